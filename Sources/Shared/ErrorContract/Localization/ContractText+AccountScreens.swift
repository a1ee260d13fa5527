/// Texts of registration and verification.
extension ContractText {
    /// Title of the registration screen, and its button.
    public static let createAccount = LocalizedText(
        en: "Create Account",
        es: "Crear cuenta",
        he: "יצירת חשבון",
        pt: "Criar conta",
        fr: "Créer un compte",
        de: "Konto erstellen"
    )
    /// Label of the field for the first name.
    public static let firstNameLabel = LocalizedText(
        en: "First name",
        es: "Nombre",
        he: "שם פרטי",
        pt: "Nome",
        fr: "Prénom",
        de: "Vorname"
    )
    /// Text for a first name that contains digits or symbols, or is too long.
    public static let firstNameInvalid = LocalizedText(
        en: "Please enter a valid first name",
        es: "Por favor, ingresa un nombre válido",
        he: "נא להזין שם פרטי תקין",
        pt: "Por favor, informe um nome válido",
        fr: "Veuillez saisir un prénom valide",
        de: "Bitte gib einen gültigen Vornamen ein"
    )
    /// Progress of a registration.
    public static let creatingAccount = LocalizedText(
        en: "Creating the account…",
        es: "Creando la cuenta…",
        he: "החשבון נוצר…",
        pt: "Criando a conta…",
        fr: "Création du compte…",
        de: "Konto wird erstellt…"
    )
    /// Text after a registration: the account exists, and the user is signed in.
    public static let accountCreated = LocalizedText(
        en: "Your account is ready.",
        es: "Tu cuenta está lista.",
        he: "החשבון שלך מוכן.",
        pt: "Sua conta está pronta.",
        fr: "Votre compte est prêt.",
        de: "Dein Konto ist bereit."
    )
    /// Title of the screen that asks the user to open a link in an email.
    public static let checkEmailTitle = LocalizedText(
        en: "Check Your Email",
        es: "Revisa tu correo",
        he: "נא לבדוק את האימייל",
        pt: "Verifique seu e-mail",
        fr: "Consultez vos e-mails",
        de: "Prüfe deine E-Mails"
    )
    /// Returns the text after the server sent an email for a registration or another request. The text asks the user to open the link.
    /// - Parameter email: The address that the user typed.
    public static func checkEmail(_ email: String) -> LocalizedText { checkEmailTemplate.filling("email", with: email) }

    /// ``checkEmail(_:)`` with an unfilled placeholder.
    static let checkEmailTemplate = LocalizedText(
        en: "We have sent an email to {email}. Open the link in it to continue.",
        es: "Enviamos un correo a {email}. Abre el enlace para continuar.",
        he: "שלחנו אימייל אל {email}. יש לפתוח את הקישור שבו כדי להמשיך.",
        pt: "Enviamos um e-mail para {email}. Abra o link nele para continuar.",
        fr: "Nous avons envoyé un e-mail à {email}. Ouvrez le lien qu’il contient pour continuer.",
        de: "Wir haben eine E-Mail an {email} gesendet. Öffne den Link darin, um fortzufahren."
    )
    /// Button that requests the email again.
    public static let sendAgain = LocalizedText(
        en: "Send Again",
        es: "Enviar de nuevo",
        he: "שליחה חוזרת",
        pt: "Enviar novamente",
        fr: "Renvoyer",
        de: "Erneut senden"
    )
    /// Title of the screen that the link for verifying an address opens.
    public static let verifyEmail = LocalizedText(
        en: "Verify Email",
        es: "Verificar correo",
        he: "אימות כתובת אימייל",
        pt: "Verificar e-mail",
        fr: "Vérifier l’adresse e-mail",
        de: "E-Mail-Adresse bestätigen"
    )
    /// Returns the text of the screen that the link for verifying an address opens.
    /// - Parameter email: The address that the link contains.
    public static func verifyEmailQuestion(_ email: String) -> LocalizedText {
        verifyEmailQuestionTemplate.filling("email", with: email)
    }

    /// ``verifyEmailQuestion(_:)`` with an unfilled placeholder.
    static let verifyEmailQuestionTemplate = LocalizedText(
        en: "Confirm that {email} is your address.",
        es: "Confirma que {email} es tu correo.",
        he: "נא לאשר שהכתובת {email} שלך.",
        pt: "Confirme que {email} é o seu e-mail.",
        fr: "Confirmez que {email} est bien votre adresse.",
        de: "Bestätige, dass {email} deine Adresse ist."
    )
    /// Text of the screen that the link for verifying an address opens, if the link doesn't contain the address.
    public static let verifyUnnamedEmail = LocalizedText(
        en: "Confirm your email address.",
        es: "Confirma tu correo electrónico.",
        he: "נא לאשר את כתובת האימייל שלך.",
        pt: "Confirme seu endereço de e-mail.",
        fr: "Confirmez votre adresse e-mail.",
        de: "Bestätige deine E-Mail-Adresse."
    )
    /// Progress of a request that confirms a link.
    public static let confirming = LocalizedText(
        en: "Confirming…",
        es: "Confirmando…",
        he: "האישור מתבצע…",
        pt: "Confirmando…",
        fr: "Confirmation en cours…",
        de: "Bestätigung läuft…"
    )
    /// Title of the screen that the link of a registration opens.
    public static let choosePassword = LocalizedText(
        en: "Choose a Password",
        es: "Elige una contraseña",
        he: "בחירת סיסמה",
        pt: "Escolha uma senha",
        fr: "Choisissez un mot de passe",
        de: "Passwort wählen"
    )
    /// Text of the screen that the link of a registration opens.
    public static let choosePasswordReason = LocalizedText(
        en: "Choose a password to create your account.",
        es: "Elige una contraseña para crear tu cuenta.",
        he: "נא לבחור סיסמה כדי ליצור את החשבון.",
        pt: "Escolha uma senha para criar sua conta.",
        fr: "Choisissez un mot de passe pour créer votre compte.",
        de: "Wähle ein Passwort, um dein Konto zu erstellen."
    )
}

/// Texts for changing the password or the address.
extension ContractText {
    /// Title of the screen that changes the password, and its button.
    public static let changePassword = LocalizedText(
        en: "Change Password",
        es: "Cambiar contraseña",
        he: "שינוי סיסמה",
        pt: "Alterar senha",
        fr: "Modifier le mot de passe",
        de: "Passwort ändern"
    )
    /// Text that explains the effect of a changed password, before the user changes it.
    public static let changePasswordEffect = LocalizedText(
        en: "All your other devices will be signed out.",
        es: "Se cerrará la sesión en todos tus otros dispositivos.",
        he: "כל המכשירים האחרים שלך ינותקו.",
        pt: "Todos os seus outros dispositivos serão desconectados.",
        fr: "Tous vos autres appareils seront déconnectés.",
        de: "Alle deine anderen Geräte werden abgemeldet."
    )
    /// Label of the field for the current password.
    public static let currentPassword = LocalizedText(
        en: "Current password",
        es: "Contraseña actual",
        he: "סיסמה נוכחית",
        pt: "Senha atual",
        fr: "Mot de passe actuel",
        de: "Aktuelles Passwort"
    )
    /// Text if the server refused the current password.
    public static let currentPasswordWrong = LocalizedText(
        en: "The current password is wrong",
        es: "La contraseña actual es incorrecta",
        he: "הסיסמה הנוכחית שגויה",
        pt: "A senha atual está incorreta",
        fr: "Le mot de passe actuel est incorrect",
        de: "Das aktuelle Passwort ist falsch"
    )
    /// Title of the screen that changes the address, and its button.
    public static let changeEmail = LocalizedText(
        en: "Change Email",
        es: "Cambiar correo",
        he: "שינוי כתובת אימייל",
        pt: "Alterar e-mail",
        fr: "Modifier l’adresse e-mail",
        de: "E-Mail-Adresse ändern"
    )
    /// Label of the field for the new address.
    public static let newEmail = LocalizedText(
        en: "New email",
        es: "Nuevo correo",
        he: "כתובת אימייל חדשה",
        pt: "Novo e-mail",
        fr: "Nouvelle adresse e-mail",
        de: "Neue E-Mail-Adresse"
    )
    /// Returns the text of the screen that the link in the email to a new address opens.
    /// - Parameter email: The new address.
    public static func confirmEmailQuestion(_ email: String) -> LocalizedText {
        confirmEmailQuestionTemplate.filling("email", with: email)
    }

    /// ``confirmEmailQuestion(_:)`` with an unfilled placeholder.
    static let confirmEmailQuestionTemplate = LocalizedText(
        en: "Confirm to sign in with {email} from now on.",
        es: "Confirma para iniciar sesión con {email} desde ahora.",
        he: "יש לאשר כדי להתחבר מעכשיו עם {email}.",
        pt: "Confirme para entrar com {email} a partir de agora.",
        fr: "Confirmez pour vous connecter désormais avec {email}.",
        de: "Bestätige, um dich ab jetzt mit {email} anzumelden."
    )
    /// Text of the screen that the link in the email to a new address opens, if the link doesn't contain the address.
    public static let confirmUnnamedEmail = LocalizedText(
        en: "Confirm the new email address of your account.",
        es: "Confirma el nuevo correo de tu cuenta.",
        he: "נא לאשר את כתובת האימייל החדשה של החשבון.",
        pt: "Confirme o novo e-mail da sua conta.",
        fr: "Confirmez la nouvelle adresse e-mail de votre compte.",
        de: "Bestätige die neue E-Mail-Adresse deines Kontos."
    )
    /// Title of the screen that restores the former address, and its button.
    public static let restoreEmail = LocalizedText(
        en: "Restore Email",
        es: "Recuperar correo",
        he: "שחזור כתובת אימייל",
        pt: "Recuperar e-mail",
        fr: "Rétablir l’adresse e-mail",
        de: "E-Mail-Adresse wiederherstellen"
    )
    /// Text that explains the effect of restoring the former address, before the user confirms it.
    public static let restoreEmailEffect = LocalizedText(
        en: "Your former email address will be restored, and all devices will be signed out. Then reset your password.",
        es:
            "Se recuperará tu correo anterior y se cerrará la sesión en todos los dispositivos. Después restablece tu contraseña.",
        he: "כתובת האימייל הקודמת שלך תשוחזר וכל המכשירים ינותקו. לאחר מכן יש לאפס את הסיסמה.",
        pt: "Seu e-mail anterior será recuperado e todos os dispositivos serão desconectados. Depois, redefina sua senha.",
        fr:
            "Votre ancienne adresse e-mail sera rétablie et tous les appareils seront déconnectés. Réinitialisez ensuite votre mot de passe.",
        de:
            "Deine frühere E-Mail-Adresse wird wiederhergestellt, und alle Geräte werden abgemeldet. Setze danach dein Passwort zurück."
    )
}

/// Texts of the list of sessions.
extension ContractText {
    /// Title of the list of sessions.
    public static let devices = LocalizedText(
        en: "Signed-In Devices",
        es: "Dispositivos conectados",
        he: "מכשירים מחוברים",
        pt: "Dispositivos conectados",
        fr: "Appareils connectés",
        de: "Angemeldete Geräte"
    )
    /// Progress of loading the sessions.
    public static let loadingDevices = LocalizedText(
        en: "Loading the devices…",
        es: "Cargando los dispositivos…",
        he: "המכשירים נטענים…",
        pt: "Carregando os dispositivos…",
        fr: "Chargement des appareils…",
        de: "Geräte werden geladen…"
    )
    /// Label that marks the session of this device.
    public static let thisDevice = LocalizedText(
        en: "This device",
        es: "Este dispositivo",
        he: "המכשיר הזה",
        pt: "Este dispositivo",
        fr: "Cet appareil",
        de: "Dieses Gerät"
    )
    /// Name of a device whose name is unknown.
    public static let unknownDevice = LocalizedText(
        en: "Unknown device",
        es: "Dispositivo desconocido",
        he: "מכשיר לא ידוע",
        pt: "Dispositivo desconhecido",
        fr: "Appareil inconnu",
        de: "Unbekanntes Gerät"
    )
    /// Returns the text that shows when a session was last used.
    /// - Parameter date: The date and time, in the language of the text.
    public static func lastUsed(_ date: String) -> LocalizedText { lastUsedTemplate.filling("date", with: date) }

    /// ``lastUsed(_:)`` with an unfilled placeholder.
    static let lastUsedTemplate = LocalizedText(
        en: "Last used: {date}",
        es: "Último uso: {date}",
        he: "שימוש אחרון: {date}",
        pt: "Último uso: {date}",
        fr: "Dernière utilisation\u{A0}: {date}",
        de: "Zuletzt verwendet: {date}"
    )
    /// Button that ends a session of another device.
    public static let signOutDevice = LocalizedText(
        en: "Sign Out",
        es: "Cerrar sesión",
        he: "ניתוק",
        pt: "Sair",
        fr: "Déconnecter",
        de: "Abmelden"
    )
    /// Button that ends all other sessions.
    public static let signOutOtherDevices = LocalizedText(
        en: "Sign Out All Other Devices",
        es: "Cerrar sesión en los demás dispositivos",
        he: "ניתוק כל המכשירים האחרים",
        pt: "Sair de todos os outros dispositivos",
        fr: "Déconnecter tous les autres appareils",
        de: "Alle anderen Geräte abmelden"
    )
    /// Text after a session of another device was ended.
    public static let deviceSignedOut = LocalizedText(
        en: "The device was signed out.",
        es: "Se cerró la sesión en el dispositivo.",
        he: "המכשיר נותק.",
        pt: "O dispositivo foi desconectado.",
        fr: "L’appareil a été déconnecté.",
        de: "Das Gerät wurde abgemeldet."
    )
    /// Text after all other sessions were ended.
    public static let otherDevicesSignedOut = LocalizedText(
        en: "All other devices were signed out.",
        es: "Se cerró la sesión en los demás dispositivos.",
        he: "כל המכשירים האחרים נותקו.",
        pt: "Todos os outros dispositivos foram desconectados.",
        fr: "Tous les autres appareils ont été déconnectés.",
        de: "Alle anderen Geräte wurden abgemeldet."
    )
}

/// Texts for deleting and restoring an account.
extension ContractText {
    /// Title of the screen that deletes the account, and its button.
    public static let deleteAccount = LocalizedText(
        en: "Delete Account",
        es: "Eliminar cuenta",
        he: "מחיקת חשבון",
        pt: "Excluir conta",
        fr: "Supprimer le compte",
        de: "Konto löschen"
    )
    /// Text that explains the effect of deleting the account, before the user confirms it.
    public static let deleteAccountEffect = LocalizedText(
        en: "You will be signed out on all devices, and your data will be deleted.",
        es: "Se cerrará la sesión en todos tus dispositivos y se eliminarán tus datos.",
        he: "כל המכשירים שלך ינותקו והנתונים שלך יימחקו.",
        pt: "Você será desconectado de todos os dispositivos e seus dados serão excluídos.",
        fr: "Vous serez déconnecté de tous vos appareils et vos données seront supprimées.",
        de: "Du wirst auf allen Geräten abgemeldet, und deine Daten werden gelöscht."
    )
    /// Progress of a deletion.
    public static let deletingAccount = LocalizedText(
        en: "Deleting the account…",
        es: "Eliminando la cuenta…",
        he: "החשבון נמחק…",
        pt: "Excluindo a conta…",
        fr: "Suppression du compte…",
        de: "Konto wird gelöscht…"
    )
    /// Title of the screen that restores a deleted account, and its button.
    public static let restoreAccount = LocalizedText(
        en: "Restore Account",
        es: "Recuperar cuenta",
        he: "שחזור חשבון",
        pt: "Recuperar conta",
        fr: "Restaurer le compte",
        de: "Konto wiederherstellen"
    )
    /// Text that explains the effect of restoring a deleted account, before the user confirms it.
    public static let restoreAccountEffect = LocalizedText(
        en: "Your account will be restored with its data. Then sign in again.",
        es: "Tu cuenta se recuperará con sus datos. Después inicia sesión de nuevo.",
        he: "החשבון שלך ישוחזר עם הנתונים שלו. לאחר מכן יש להתחבר שוב.",
        pt: "Sua conta será recuperada com seus dados. Depois, entre novamente.",
        fr: "Votre compte sera restauré avec ses données. Reconnectez-vous ensuite.",
        de: "Dein Konto wird mit seinen Daten wiederhergestellt. Melde dich danach erneut an."
    )
}

/// Texts of links that can't be used.
extension ContractText {
    /// Text for a link that can't be read.
    public static let accountLinkInvalid = LocalizedText(
        en: "This link is not valid.",
        es: "Este enlace no es válido.",
        he: "הקישור הזה אינו תקין.",
        pt: "Este link não é válido.",
        fr: "Ce lien n’est pas valide.",
        de: "Dieser Link ist ungültig."
    )
    /// Text for a link that is expired, used or unknown.
    public static let accountLinkExpired = LocalizedText(
        en: "This link has expired or was already used.",
        es: "Este enlace ha expirado o ya fue usado.",
        he: "תוקף הקישור הזה פג או שכבר נעשה בו שימוש.",
        pt: "Este link expirou ou já foi usado.",
        fr: "Ce lien a expiré ou a déjà été utilisé.",
        de: "Dieser Link ist abgelaufen oder wurde bereits verwendet."
    )
    /// Text if the server refused the link or the session after the response to an earlier attempt was lost. The earlier attempt has
    /// probably succeeded.
    public static let requestProbablySucceeded = LocalizedText(
        en: "Your request has probably succeeded. Try signing in.",
        es: "Es probable que tu solicitud se haya completado. Intenta iniciar sesión.",
        he: "ככל הנראה הבקשה שלך הצליחה. נא לנסות להתחבר.",
        pt: "Sua solicitação provavelmente foi concluída. Tente entrar.",
        fr: "Votre demande a probablement abouti. Essayez de vous connecter.",
        de: "Deine Anfrage war wahrscheinlich erfolgreich. Versuche, dich anzumelden."
    )
    /// Button that leaves a screen after a success.
    public static let continueTitle = LocalizedText(
        en: "Continue",
        es: "Continuar",
        he: "המשך",
        pt: "Continuar",
        fr: "Continuer",
        de: "Weiter"
    )
}

extension ContractText {
    /// All texts of this file, with unfilled placeholders.
    static let accountScreens = [
        createAccount, firstNameLabel, firstNameInvalid, creatingAccount, accountCreated, checkEmailTitle, checkEmailTemplate,
        sendAgain, verifyEmail, verifyEmailQuestionTemplate, verifyUnnamedEmail, confirming,
        choosePassword, choosePasswordReason, changePassword, changePasswordEffect, currentPassword,
        currentPasswordWrong, changeEmail, newEmail, confirmEmailQuestionTemplate, confirmUnnamedEmail, restoreEmail,
        restoreEmailEffect, devices, loadingDevices, thisDevice, unknownDevice, lastUsedTemplate,
        signOutDevice, signOutOtherDevices, deviceSignedOut, otherDevicesSignedOut, deleteAccount, deleteAccountEffect,
        deletingAccount, restoreAccount, restoreAccountEffect, accountLinkInvalid,
        accountLinkExpired, requestProbablySucceeded, continueTitle,
    ]
}
