import ErrorContract

/// The texts of the emails about registration and addresses.
extension MailTexts {
    /// The subject of the email that verifies an address.
    static let verifySubject = LocalizedText(
        en: "Verify your email - {app}",
        es: "Verifica tu correo - {app}",
        he: "אימות כתובת האימייל שלך - {app}",
        pt: "Verifique seu e-mail - {app}",
        fr: "Vérifiez votre adresse e-mail - {app}",
        de: "Bestätige deine E-Mail-Adresse - {app}"
    )
    /// The preview of the email that verifies an address.
    static let verifyPreview = LocalizedText(
        en: "Click to verify your email address",
        es: "Haz clic para verificar tu correo electrónico",
        he: "יש ללחוץ כדי לאמת את כתובת האימייל",
        pt: "Clique para verificar seu endereço de e-mail",
        fr: "Cliquez pour vérifier votre adresse e-mail",
        de: "Klicke, um deine E-Mail-Adresse zu bestätigen"
    )
    /// The first paragraph of the email that verifies an address.
    static let verifyRequested = LocalizedText(
        en: "An account at {app} uses this email address.",
        es: "Una cuenta de {app} usa este correo electrónico.",
        he: "חשבון ב־{app} משתמש בכתובת האימייל הזו.",
        pt: "Uma conta {app} usa este endereço de e-mail.",
        fr: "Un compte {app} utilise cette adresse e-mail.",
        de: "Ein Konto bei {app} verwendet diese E-Mail-Adresse."
    )
    /// The paragraph above the button that verifies an address.
    static let verifyClick = LocalizedText(
        en: "Click the button below to verify that the address is yours:",
        es: "Haz clic en el botón de abajo para verificar que la dirección es tuya:",
        he: "כדי לאמת שהכתובת שייכת לך, יש ללחוץ על הכפתור שלמטה:",
        pt: "Clique no botão abaixo para verificar que o endereço é seu:",
        fr: "Cliquez sur le bouton ci-dessous pour vérifier que l’adresse est la vôtre\u{A0}:",
        de: "Klicke auf die Schaltfläche unten, um zu bestätigen, dass die Adresse dir gehört:"
    )
    /// The label of the button that verifies an address.
    static let verifyButton = LocalizedText(
        en: "Verify Email",
        es: "Verificar Correo",
        he: "אימות האימייל",
        pt: "Verificar e-mail",
        fr: "Vérifier l’adresse e-mail",
        de: "E-Mail-Adresse bestätigen"
    )
    /// The advice for a recipient who did not register.
    static let verifyIgnore = LocalizedText(
        en: "If you did not create this account, you can safely ignore this email.",
        es: "Si no creaste esta cuenta, puedes ignorar este correo de forma segura.",
        he: "אם לא יצרת את החשבון הזה, אפשר להתעלם מההודעה הזו ללא חשש.",
        pt: "Se você não criou esta conta, pode ignorar este e-mail com segurança.",
        fr: "Si vous n’avez pas créé ce compte, vous pouvez ignorer cet e-mail en toute sécurité.",
        de: "Wenn du dieses Konto nicht erstellt hast, kannst du diese E-Mail einfach ignorieren."
    )

    /// The subject of the email that finishes a registration.
    static let activateSubject = LocalizedText(
        en: "Finish your registration - {app}",
        es: "Completa tu registro - {app}",
        he: "השלמת ההרשמה שלך - {app}",
        pt: "Conclua seu cadastro - {app}",
        fr: "Terminez votre inscription - {app}",
        de: "Schließe deine Registrierung ab - {app}"
    )
    /// The preview of the email that finishes a registration.
    static let activatePreview = LocalizedText(
        en: "Click to choose your password",
        es: "Haz clic para elegir tu contraseña",
        he: "יש ללחוץ כדי לבחור סיסמה",
        pt: "Clique para escolher sua senha",
        fr: "Cliquez pour choisir votre mot de passe",
        de: "Klicke, um dein Passwort zu wählen"
    )
    /// The first paragraph of the email that finishes a registration.
    static let activateRequested = LocalizedText(
        en: "We received a request to create an account at {app} with this email address.",
        es: "Recibimos una solicitud para crear una cuenta de {app} con este correo electrónico.",
        he: "קיבלנו בקשה ליצירת חשבון ב־{app} עם כתובת האימייל הזו.",
        pt: "Recebemos uma solicitação para criar uma conta {app} com este endereço de e-mail.",
        fr: "Nous avons reçu une demande de création d’un compte {app} avec cette adresse e-mail.",
        de: "Wir haben eine Anfrage erhalten, mit dieser E-Mail-Adresse ein Konto bei {app} zu erstellen."
    )
    /// The paragraph above the button that finishes a registration.
    static let activateClick = LocalizedText(
        en: "Click the button below to choose a password and finish your registration:",
        es: "Haz clic en el botón de abajo para elegir una contraseña y completar tu registro:",
        he: "כדי לבחור סיסמה ולהשלים את ההרשמה, יש ללחוץ על הכפתור שלמטה:",
        pt: "Clique no botão abaixo para escolher uma senha e concluir seu cadastro:",
        fr: "Cliquez sur le bouton ci-dessous pour choisir un mot de passe et terminer votre inscription\u{A0}:",
        de: "Klicke auf die Schaltfläche unten, um ein Passwort zu wählen und deine Registrierung abzuschließen:"
    )
    /// The label of the button that finishes a registration.
    static let activateButton = LocalizedText(
        en: "Choose Password",
        es: "Elegir Contraseña",
        he: "בחירת סיסמה",
        pt: "Escolher senha",
        fr: "Choisir un mot de passe",
        de: "Passwort wählen"
    )
    /// The advice for a recipient who did not register.
    static let activateIgnore = LocalizedText(
        en: "If you did not request this, you can safely ignore this email. No account will be created.",
        es: "Si no solicitaste esto, puedes ignorar este correo de forma segura. No se creará ninguna cuenta.",
        he: "אם לא ביקשת זאת, אפשר להתעלם מההודעה הזו ללא חשש. לא ייווצר חשבון.",
        pt: "Se você não solicitou isto, pode ignorar este e-mail com segurança. Nenhuma conta será criada.",
        fr: "Si vous n’avez pas fait cette demande, vous pouvez ignorer cet e-mail en toute sécurité. Aucun compte ne sera créé.",
        de: "Wenn du das nicht angefordert hast, kannst du diese E-Mail einfach ignorieren. Es wird kein Konto erstellt."
    )

    /// The subject of the email for a registration with an address that already has an account.
    static let existsSubject = LocalizedText(
        en: "You already have an account - {app}",
        es: "Ya tienes una cuenta - {app}",
        he: "כבר יש לך חשבון - {app}",
        pt: "Você já tem uma conta - {app}",
        fr: "Vous avez déjà un compte - {app}",
        de: "Du hast bereits ein Konto - {app}"
    )
    /// The preview of the email for a registration with an address that already has an account.
    static let existsPreview = LocalizedText(
        en: "Sign in, or reset your password",
        es: "Inicia sesión o restablece tu contraseña",
        he: "אפשר להתחבר או לאפס את הסיסמה",
        pt: "Entre ou redefina sua senha",
        fr: "Connectez-vous ou réinitialisez votre mot de passe",
        de: "Melde dich an oder setze dein Passwort zurück"
    )
    /// The second paragraph of the email for a registration with an address that already has an account.
    static let existsAlready = LocalizedText(
        en: "You already have an account with this address. You can sign in with your password.",
        es: "Ya tienes una cuenta con esta dirección. Puedes iniciar sesión con tu contraseña.",
        he: "כבר יש לך חשבון עם הכתובת הזו. אפשר להתחבר עם הסיסמה שלך.",
        pt: "Você já tem uma conta com este endereço. Você pode entrar com sua senha.",
        fr: "Vous avez déjà un compte avec cette adresse. Vous pouvez vous connecter avec votre mot de passe.",
        de: "Du hast mit dieser Adresse bereits ein Konto. Du kannst dich mit deinem Passwort anmelden."
    )
    /// The paragraph above the button of the email for a registration with an address that already has an account.
    static let existsClick = LocalizedText(
        en: "If you have forgotten your password, click the button below to reset it securely:",
        es: "Si olvidaste tu contraseña, haz clic en el botón de abajo para restablecerla de forma segura:",
        he: "אם שכחת את הסיסמה, אפשר ללחוץ על הכפתור שלמטה כדי לאפס אותה באופן מאובטח:",
        pt: "Se você esqueceu sua senha, clique no botão abaixo para redefini-la com segurança:",
        fr:
            "Si vous avez oublié votre mot de passe, cliquez sur le bouton ci-dessous pour le réinitialiser en toute sécurité\u{A0}:",
        de: "Wenn du dein Passwort vergessen hast, klicke auf die Schaltfläche unten, um es sicher zurückzusetzen:"
    )
    /// The advice for a recipient who did not register.
    static let existsIgnore = LocalizedText(
        en: "If you did not request this, you can safely ignore this email. Your account has not been changed.",
        es: "Si no solicitaste esto, puedes ignorar este correo de forma segura. Tu cuenta no fue modificada.",
        he: "אם לא ביקשת זאת, אפשר להתעלם מההודעה הזו ללא חשש. החשבון שלך לא השתנה.",
        pt: "Se você não solicitou isto, pode ignorar este e-mail com segurança. Sua conta não foi alterada.",
        fr:
            "Si vous n’avez pas fait cette demande, vous pouvez ignorer cet e-mail en toute sécurité. Votre compte n’a pas été modifié.",
        de: "Wenn du das nicht angefordert hast, kannst du diese E-Mail einfach ignorieren. Dein Konto wurde nicht geändert."
    )

    /// The subject of the email that confirms a new address.
    static let confirmSubject = LocalizedText(
        en: "Confirm your new email - {app}",
        es: "Confirma tu nuevo correo - {app}",
        he: "אישור כתובת האימייל החדשה שלך - {app}",
        pt: "Confirme seu novo e-mail - {app}",
        fr: "Confirmez votre nouvelle adresse e-mail - {app}",
        de: "Bestätige deine neue E-Mail-Adresse - {app}"
    )
    /// The preview of the email that confirms a new address.
    static let confirmPreview = LocalizedText(
        en: "Click to confirm your new email address",
        es: "Haz clic para confirmar tu nuevo correo electrónico",
        he: "יש ללחוץ כדי לאשר את כתובת האימייל החדשה",
        pt: "Clique para confirmar seu novo endereço de e-mail",
        fr: "Cliquez pour confirmer votre nouvelle adresse e-mail",
        de: "Klicke, um deine neue E-Mail-Adresse zu bestätigen"
    )
    /// The first paragraph of the email that confirms a new address.
    static let confirmRequested = LocalizedText(
        en: "We received a request to use this email address for an account at {app}.",
        es: "Recibimos una solicitud para usar este correo electrónico en una cuenta de {app}.",
        he: "קיבלנו בקשה להשתמש בכתובת האימייל הזו בחשבון ב־{app}.",
        pt: "Recebemos uma solicitação para usar este endereço de e-mail em uma conta {app}.",
        fr: "Nous avons reçu une demande d’utilisation de cette adresse e-mail pour un compte {app}.",
        de: "Wir haben eine Anfrage erhalten, diese E-Mail-Adresse für ein Konto bei {app} zu verwenden."
    )
    /// The paragraph above the button that confirms a new address.
    static let confirmClick = LocalizedText(
        en: "Click the button below to confirm your new email address:",
        es: "Haz clic en el botón de abajo para confirmar tu nuevo correo electrónico:",
        he: "כדי לאשר את כתובת האימייל החדשה, יש ללחוץ על הכפתור שלמטה:",
        pt: "Clique no botão abaixo para confirmar seu novo endereço de e-mail:",
        fr: "Cliquez sur le bouton ci-dessous pour confirmer votre nouvelle adresse e-mail\u{A0}:",
        de: "Klicke auf die Schaltfläche unten, um deine neue E-Mail-Adresse zu bestätigen:"
    )
    /// The label of the button that confirms a new address.
    static let confirmButton = LocalizedText(
        en: "Confirm Email",
        es: "Confirmar Correo",
        he: "אישור האימייל",
        pt: "Confirmar e-mail",
        fr: "Confirmer l’adresse e-mail",
        de: "E-Mail-Adresse bestätigen"
    )
    /// The advice for a recipient who did not request the change.
    static let confirmIgnore = LocalizedText(
        en: "If you did not request this change, you can safely ignore this email. Your address will not be used.",
        es: "Si no solicitaste este cambio, puedes ignorar este correo de forma segura. Tu dirección no será utilizada.",
        he: "אם לא ביקשת את השינוי הזה, אפשר להתעלם מההודעה הזו ללא חשש. לא ייעשה שימוש בכתובת שלך.",
        pt: "Se você não solicitou esta alteração, pode ignorar este e-mail com segurança. Seu endereço não será usado.",
        fr:
            "Si vous n’avez pas demandé ce changement, vous pouvez ignorer cet e-mail en toute sécurité. Votre adresse ne sera pas utilisée.",
        de:
            "Wenn du diese Änderung nicht angefordert hast, kannst du diese E-Mail einfach ignorieren. Deine Adresse wird nicht verwendet."
    )

    /// The subject of the notice of a changed address, which the former address receives.
    static let emailChangedSubject = LocalizedText(
        en: "Email address changed - {app}",
        es: "Correo actualizado - {app}",
        he: "כתובת האימייל שונתה - {app}",
        pt: "E-mail alterado - {app}",
        fr: "Adresse e-mail modifiée - {app}",
        de: "E-Mail-Adresse geändert - {app}"
    )
    /// The first paragraph of the notice of a changed address.
    static let emailChangedBody = LocalizedText(
        en: "The email address of your {app} account has been changed. This address no longer belongs to the account.",
        es: "El correo electrónico de tu cuenta de {app} fue cambiado. Esta dirección ya no pertenece a la cuenta.",
        he: "כתובת האימייל של החשבון שלך ב־{app} שונתה. הכתובת הזו אינה שייכת עוד לחשבון.",
        pt: "O e-mail da sua conta {app} foi alterado. Este endereço não pertence mais à conta.",
        fr: "L’adresse e-mail de votre compte {app} a été modifiée. Cette adresse n’appartient plus au compte.",
        de: "Die E-Mail-Adresse deines Kontos bei {app} wurde geändert. Diese Adresse gehört nicht mehr zum Konto."
    )
    /// The paragraph above the button that restores a former address.
    static let restoreAddressClick = LocalizedText(
        en:
            "If this was not you, click the button below to restore this address. All sessions will end, and you will set a new password:",
        es:
            "Si no fuiste tú, haz clic en el botón de abajo para recuperar esta dirección. Se cerrarán todas las sesiones y definirás una nueva contraseña:",
        he: "אם לא ביצעת את השינוי, יש ללחוץ על הכפתור שלמטה כדי לשחזר את הכתובת הזו. כל החיבורים ינותקו, ותוגדר סיסמה חדשה:",
        pt:
            "Se não foi você, clique no botão abaixo para recuperar este endereço. Todas as sessões serão encerradas e você definirá uma nova senha:",
        fr:
            "Si ce n’était pas vous, cliquez sur le bouton ci-dessous pour rétablir cette adresse. Toutes les sessions seront fermées et vous définirez un nouveau mot de passe\u{A0}:",
        de:
            "Wenn du das nicht warst, klicke auf die Schaltfläche unten, um diese Adresse wiederherzustellen. Alle Sitzungen werden beendet, und du legst ein neues Passwort fest:"
    )
    /// The label of the button that restores a former address.
    static let restoreAddressButton = LocalizedText(
        en: "Restore Address",
        es: "Recuperar Dirección",
        he: "שחזור הכתובת",
        pt: "Recuperar endereço",
        fr: "Rétablir l’adresse",
        de: "Adresse wiederherstellen"
    )
    /// The paragraph below the button that restores a former address. `{count}` is the number of days.
    static let undoExpiry = LocalizedText(
        en: PluralForms(
            one: "This link works for {count} day after the change of the address.",
            other: "This link works for {count} days after the change of the address."
        ),
        es: PluralForms(
            one: "Este enlace funciona durante {count} día después del cambio de dirección.",
            other: "Este enlace funciona durante {count} días después del cambio de dirección."
        ),
        he: PluralForms(
            one: "הקישור הזה פועל במשך יום אחד לאחר שינוי הכתובת.",
            two: "הקישור הזה פועל במשך יומיים לאחר שינוי הכתובת.",
            other: "הקישור הזה פועל במשך {count} ימים לאחר שינוי הכתובת."
        ),
        pt: PluralForms(
            one: "Este link funciona por {count} dia após a alteração do endereço.",
            other: "Este link funciona por {count} dias após a alteração do endereço."
        ),
        fr: PluralForms(
            one: "Ce lien fonctionne pendant {count} jour après le changement d’adresse.",
            other: "Ce lien fonctionne pendant {count} jours après le changement d’adresse."
        ),
        de: PluralForms(
            one: "Dieser Link funktioniert {count} Tag lang nach der Änderung der Adresse.",
            other: "Dieser Link funktioniert {count} Tage lang nach der Änderung der Adresse."
        )
    )
    /// The advice for a recipient who changed the address.
    static let emailChangedIgnore = LocalizedText(
        en: "If you changed the address, you can safely ignore this email.",
        es: "Si cambiaste la dirección, puedes ignorar este correo de forma segura.",
        he: "אם שינית את הכתובת, אפשר להתעלם מההודעה הזו ללא חשש.",
        pt: "Se você alterou o endereço, pode ignorar este e-mail com segurança.",
        fr: "Si vous avez modifié l’adresse, vous pouvez ignorer cet e-mail en toute sécurité.",
        de: "Wenn du die Adresse geändert hast, kannst du diese E-Mail einfach ignorieren."
    )
}

/// The texts of the emails about deleted accounts and new devices.
extension MailTexts {
    /// The subject of the notices of a deletion.
    static let deletedSubject = LocalizedText(
        en: "Account deleted - {app}",
        es: "Cuenta eliminada - {app}",
        he: "החשבון נמחק - {app}",
        pt: "Conta excluída - {app}",
        fr: "Compte supprimé - {app}",
        de: "Konto gelöscht - {app}"
    )
    /// The first paragraph of the notice of a deletion that the address of the account receives.
    static let deletedBody = LocalizedText(
        en: "Your {app} account has been deleted, and all its sessions have ended.",
        es: "Tu cuenta de {app} fue eliminada y todas sus sesiones se cerraron.",
        he: "החשבון שלך ב־{app} נמחק, וכל החיבורים אליו נותקו.",
        pt: "Sua conta {app} foi excluída e todas as suas sessões foram encerradas.",
        fr: "Votre compte {app} a été supprimé et toutes ses sessions ont été fermées.",
        de: "Dein Konto bei {app} wurde gelöscht, und alle Sitzungen wurden beendet."
    )
    /// The second paragraph of both notices of a deletion. `{date}` is the date on which the account is removed.
    static let deletedOn = LocalizedText(
        en: "The account and its data will be permanently removed on {date} (UTC).",
        es: "La cuenta y sus datos se borrarán definitivamente el {date} (UTC).",
        he: "החשבון והנתונים שלו יימחקו לצמיתות בתאריך {date} (UTC).",
        pt: "A conta e seus dados serão apagados definitivamente em {date} (UTC).",
        fr: "Le compte et ses données seront définitivement effacés le {date} (UTC).",
        de: "Das Konto und seine Daten werden am {date} (UTC) endgültig entfernt."
    )
    /// The paragraph above the button that restores a deleted account.
    static let keepClick = LocalizedText(
        en: "Until then, click the button below to restore your account. Your password stays the same:",
        es: "Hasta entonces, haz clic en el botón de abajo para recuperar tu cuenta. Tu contraseña seguirá siendo la misma:",
        he: "עד אז אפשר לשחזר את החשבון בלחיצה על הכפתור שלמטה. הסיסמה שלך לא תשתנה:",
        pt: "Até lá, clique no botão abaixo para recuperar sua conta. Sua senha continuará a mesma:",
        fr:
            "D’ici là, cliquez sur le bouton ci-dessous pour restaurer votre compte. Votre mot de passe restera le même\u{A0}:",
        de:
            "Bis dahin kannst du dein Konto mit der Schaltfläche unten wiederherstellen. Dein Passwort bleibt gleich:"
    )
    /// The label of the button that restores a deleted account.
    static let keepButton = LocalizedText(
        en: "Restore Account",
        es: "Recuperar Cuenta",
        he: "שחזור החשבון",
        pt: "Recuperar conta",
        fr: "Restaurer le compte",
        de: "Konto wiederherstellen"
    )
    /// The advice for a recipient who did not delete the account.
    static let deletedNotMe = LocalizedText(
        en: "If you did not delete the account, restore it and change your password at once.",
        es: "Si no eliminaste la cuenta, recupérala y cambia tu contraseña de inmediato.",
        he: "אם לא מחקת את החשבון, יש לשחזר אותו ולשנות את הסיסמה מיד.",
        pt: "Se você não excluiu a conta, recupere-a e altere sua senha imediatamente.",
        fr: "Si vous n’avez pas supprimé le compte, restaurez-le et changez immédiatement votre mot de passe.",
        de: "Wenn du das Konto nicht gelöscht hast, stelle es wieder her und ändere sofort dein Passwort."
    )
    /// The first paragraph of the notice of a deletion that a former address of the account receives.
    static let formerDeletedBody = LocalizedText(
        en: "The {app} account to which this email address recently belonged has been deleted.",
        es: "La cuenta de {app} a la que hace poco pertenecía este correo electrónico fue eliminada.",
        he: "החשבון ב־{app} שכתובת האימייל הזו הייתה שייכת אליו לאחרונה נמחק.",
        pt: "A conta {app} à qual este endereço de e-mail pertencia recentemente foi excluída.",
        fr: "Le compte {app} auquel cette adresse e-mail appartenait récemment a été supprimé.",
        de: "Das Konto bei {app}, zu dem diese E-Mail-Adresse bis vor Kurzem gehörte, wurde gelöscht."
    )
    /// The paragraph above the button that restores a former address and its account.
    static let formerDeletedClick = LocalizedText(
        en:
            "If this was not you, click the button below to restore the account with this address. You will then set a new password:",
        es:
            "Si no fuiste tú, haz clic en el botón de abajo para recuperar la cuenta con esta dirección. Después definirás una nueva contraseña:",
        he: "אם לא ביצעת זאת, יש ללחוץ על הכפתור שלמטה כדי לשחזר את החשבון עם הכתובת הזו. לאחר מכן תוגדר סיסמה חדשה:",
        pt:
            "Se não foi você, clique no botão abaixo para recuperar a conta com este endereço. Depois, você definirá uma nova senha:",
        fr:
            "Si ce n’était pas vous, cliquez sur le bouton ci-dessous pour restaurer le compte avec cette adresse. Vous définirez ensuite un nouveau mot de passe\u{A0}:",
        de:
            "Wenn du das nicht warst, klicke auf die Schaltfläche unten, um das Konto mit dieser Adresse wiederherzustellen. Danach legst du ein neues Passwort fest:"
    )
    /// The advice for a recipient who deleted the account.
    static let deletedIgnore = LocalizedText(
        en: "If you deleted the account, you can safely ignore this email.",
        es: "Si eliminaste la cuenta, puedes ignorar este correo de forma segura.",
        he: "אם מחקת את החשבון, אפשר להתעלם מההודעה הזו ללא חשש.",
        pt: "Se você excluiu a conta, pode ignorar este e-mail com segurança.",
        fr: "Si vous avez supprimé le compte, vous pouvez ignorer cet e-mail en toute sécurité.",
        de: "Wenn du das Konto gelöscht hast, kannst du diese E-Mail einfach ignorieren."
    )

    /// The subject of the notice of a new device.
    static let newDeviceSubject = LocalizedText(
        en: "New sign-in - {app}",
        es: "Nuevo inicio de sesión - {app}",
        he: "התחברות חדשה - {app}",
        pt: "Novo acesso - {app}",
        fr: "Nouvelle connexion - {app}",
        de: "Neue Anmeldung - {app}"
    )
    /// The first paragraph of the notice of a new device. `{device}` is the family of the device, such as `Firefox on Linux`.
    static let newDeviceBody = LocalizedText(
        en: "Your {app} account was signed in to on a new device: {device}.",
        es: "Se inició sesión en tu cuenta de {app} desde un nuevo dispositivo: {device}.",
        he: "בוצעה התחברות לחשבון שלך ב־{app} ממכשיר חדש: {device}.",
        pt: "Houve um acesso à sua conta {app} em um novo dispositivo: {device}.",
        fr: "Une connexion à votre compte {app} a eu lieu sur un nouvel appareil\u{A0}: {device}.",
        de: "In deinem Konto bei {app} gab es eine Anmeldung auf einem neuen Gerät: {device}."
    )
    /// The first paragraph of the notice of a new device whose family is unknown.
    static let newDeviceUnknown = LocalizedText(
        en: "Your {app} account was signed in to on a new device.",
        es: "Se inició sesión en tu cuenta de {app} desde un nuevo dispositivo.",
        he: "בוצעה התחברות לחשבון שלך ב־{app} ממכשיר חדש.",
        pt: "Houve um acesso à sua conta {app} em um novo dispositivo.",
        fr: "Une connexion à votre compte {app} a eu lieu sur un nouvel appareil.",
        de: "In deinem Konto bei {app} gab es eine Anmeldung auf einem neuen Gerät."
    )
    /// The footnote of the notice of a new device, above the link that locks the account.
    static let newDeviceNotMe = LocalizedText(
        en: "If this was not you, lock your account at once:",
        es: "Si no fuiste tú, congela tu cuenta de inmediato:",
        he: "אם ההתחברות לא בוצעה על ידך, יש להקפיא את החשבון מיד:",
        pt: "Se não foi você, congele sua conta imediatamente:",
        fr: "Si ce n’était pas vous, gelez immédiatement votre compte\u{A0}:",
        de: "Wenn du das nicht warst, friere dein Konto sofort ein:"
    )
    /// The advice for a recipient who signed in.
    static let newDeviceIgnore = LocalizedText(
        en: "If this was you, you can safely ignore this email.",
        es: "Si fuiste tú, puedes ignorar este correo de forma segura.",
        he: "אם ההתחברות בוצעה על ידך, אפשר להתעלם מההודעה הזו ללא חשש.",
        pt: "Se foi você, pode ignorar este e-mail com segurança.",
        fr: "Si c’était vous, vous pouvez ignorer cet e-mail en toute sécurité.",
        de: "Wenn du das warst, kannst du diese E-Mail einfach ignorieren."
    )
}
