import ErrorContract

/// The texts of the pages that verify, create, change or restore an account, in the six supported languages.
extension PageTexts {
    /// The text for an expired or used link.
    static let linkUsed = LocalizedText(
        en: "This link has expired or was already used.",
        es: "Este enlace ha expirado o ya fue utilizado.",
        he: "תוקף הקישור הזה פג, או שכבר נעשה בו שימוש.",
        pt: "Este link expirou ou já foi usado.",
        fr: "Ce lien a expiré ou a déjà été utilisé.",
        de: "Dieser Link ist abgelaufen oder wurde bereits verwendet."
    )
    /// The text for a malformed link.
    static let linkIncomplete = LocalizedText(
        en: "This link is not complete. Open it again from your email.",
        es: "Este enlace no está completo. Ábrelo de nuevo desde tu correo.",
        he: "הקישור הזה אינו שלם. יש לפתוח אותו שוב מהאימייל.",
        pt: "Este link não está completo. Abra-o novamente a partir do seu e-mail.",
        fr: "Ce lien n’est pas complet. Ouvrez-le à nouveau depuis votre e-mail.",
        de: "Dieser Link ist nicht vollständig. Öffne ihn noch einmal aus deiner E-Mail."
    )

    /// The form that verifies an address with the current password.
    static let verify = AccountFormTexts(
        heading: LocalizedText(
            en: "Verify your email",
            es: "Verifica tu correo",
            he: "אימות כתובת האימייל",
            pt: "Verifique seu e-mail",
            fr: "Vérifiez votre adresse e-mail",
            de: "Bestätige deine E-Mail-Adresse"
        ),
        lead: LocalizedText(
            en: "Enter the current password of your account to verify your email address. You stay signed in.",
            es: "Ingresa la contraseña actual de tu cuenta para verificar tu correo electrónico. Tu sesión seguirá abierta.",
            he: "נא להזין את הסיסמה הנוכחית של החשבון כדי לאמת את כתובת האימייל. החיבורים שלך יישארו פעילים.",
            pt: "Digite a senha atual da sua conta para verificar seu e-mail. Sua sessão continuará aberta.",
            fr:
                "Saisissez le mot de passe actuel de votre compte pour vérifier votre adresse e-mail. Votre session restera ouverte.",
            de: "Gib das aktuelle Passwort deines Kontos ein, um deine E-Mail-Adresse zu bestätigen. Du bleibst angemeldet."
        ),
        submit: MailTexts.verifyButton,
        expired: LocalizedText(
            en: "If your address is not verified yet, request a new link in the app.",
            es: "Si tu correo aún no está verificado, solicita un nuevo enlace en la aplicación.",
            he: "אם הכתובת שלך עדיין לא אומתה, אפשר לבקש קישור חדש באפליקציה.",
            pt: "Se seu e-mail ainda não foi verificado, solicite um novo link no app.",
            fr: "Si votre adresse n’est pas encore vérifiée, demandez un nouveau lien dans l’application.",
            de: "Wenn deine Adresse noch nicht bestätigt ist, fordere in der App einen neuen Link an."
        )
    )
    /// The form that verifies an address with a new password.
    static let chooseInstead = AccountFormTexts(
        heading: LocalizedText(
            en: "Choose a new password instead",
            es: "Elegir una nueva contraseña",
            he: "בחירת סיסמה חדשה במקום זאת",
            pt: "Escolher uma nova senha",
            fr: "Choisir plutôt un nouveau mot de passe",
            de: "Stattdessen ein neues Passwort wählen"
        ),
        lead: LocalizedText(
            en:
                "If you do not know the current password, choose a new one: your email address is verified, all sessions end, and the old password no longer works.",
            es:
                "Si no conoces la contraseña actual, elige una nueva: tu correo quedará verificado, se cerrarán todas las sesiones y la contraseña anterior dejará de funcionar.",
            he:
                "אם הסיסמה הנוכחית אינה ידועה לך, אפשר לבחור סיסמה חדשה: כתובת האימייל תאומת, כל החיבורים ינותקו והסיסמה הישנה לא תפעל עוד.",
            pt:
                "Se você não sabe a senha atual, escolha uma nova: seu e-mail será verificado, todas as sessões serão encerradas e a senha antiga deixará de funcionar.",
            fr:
                "Si vous ne connaissez pas le mot de passe actuel, choisissez-en un nouveau\u{A0}: votre adresse e-mail sera vérifiée, toutes les sessions seront fermées et l’ancien mot de passe ne fonctionnera plus.",
            de:
                "Wenn du das aktuelle Passwort nicht kennst, wähle ein neues: Deine E-Mail-Adresse wird bestätigt, alle Sitzungen werden beendet, und das alte Passwort gilt nicht mehr."
        ),
        submit: LocalizedText(
            en: "Set New Password",
            es: "Guardar Nueva Contraseña",
            he: "שמירת הסיסמה החדשה",
            pt: "Salvar nova senha",
            fr: "Enregistrer le nouveau mot de passe",
            de: "Neues Passwort speichern"
        ),
        expired: linkUsed
    )
    /// The form that creates the account of a registration.
    static let activate = AccountFormTexts(
        heading: LocalizedText(
            en: "Finish your registration",
            es: "Completa tu registro",
            he: "השלמת ההרשמה",
            pt: "Conclua seu cadastro",
            fr: "Terminez votre inscription",
            de: "Schließe deine Registrierung ab"
        ),
        lead: ContractText.choosePasswordReason,
        submit: LocalizedText(
            en: "Create Account",
            es: "Crear Cuenta",
            he: "יצירת החשבון",
            pt: "Criar conta",
            fr: "Créer le compte",
            de: "Konto erstellen"
        ),
        expired: LocalizedText(
            en: "If you have not chosen a password yet, register again in the app. Otherwise, sign in.",
            es: "Si aún no elegiste una contraseña, regístrate de nuevo en la aplicación. Si ya lo hiciste, inicia sesión.",
            he: "אם עדיין לא בחרת סיסמה, יש להירשם שוב באפליקציה. אחרת, אפשר להתחבר.",
            pt: "Se você ainda não escolheu uma senha, cadastre-se novamente no app. Caso contrário, entre.",
            fr:
                "Si vous n’avez pas encore choisi de mot de passe, inscrivez-vous à nouveau dans l’application. Sinon, connectez-vous.",
            de: "Wenn du noch kein Passwort gewählt hast, registriere dich noch einmal in der App. Andernfalls melde dich an."
        )
    )
    /// The form that confirms a new address.
    static let confirm = AccountFormTexts(
        heading: LocalizedText(
            en: "Confirm your new email",
            es: "Confirma tu nuevo correo",
            he: "אישור כתובת האימייל החדשה",
            pt: "Confirme seu novo e-mail",
            fr: "Confirmez votre nouvelle adresse e-mail",
            de: "Bestätige deine neue E-Mail-Adresse"
        ),
        lead: LocalizedText(
            en: "Enter the current password of your account to change its email address to this one. All sessions will end.",
            es:
                "Ingresa la contraseña actual de tu cuenta para cambiar su correo electrónico a este. Se cerrarán todas las sesiones.",
            he: "נא להזין את הסיסמה הנוכחית של החשבון כדי להחליף את כתובת האימייל שלו בכתובת הזו. כל החיבורים ינותקו.",
            pt:
                "Digite a senha atual da sua conta para trocar o e-mail dela por este. Todas as sessões serão encerradas.",
            fr:
                "Saisissez le mot de passe actuel de votre compte pour remplacer son adresse e-mail par celle-ci. Toutes les sessions seront fermées.",
            de:
                "Gib das aktuelle Passwort deines Kontos ein, um seine E-Mail-Adresse durch diese zu ersetzen. Alle Sitzungen werden beendet."
        ),
        submit: MailTexts.confirmButton,
        expired: LocalizedText(
            en: "If your address has not been changed yet, change it again in the app.",
            es: "Si tu correo aún no fue cambiado, cámbialo de nuevo en la aplicación.",
            he: "אם הכתובת שלך עדיין לא שונתה, יש לשנות אותה שוב באפליקציה.",
            pt: "Se seu e-mail ainda não foi alterado, altere-o novamente no app.",
            fr: "Si votre adresse n’a pas encore été modifiée, modifiez-la à nouveau dans l’application.",
            de: "Wenn deine Adresse noch nicht geändert wurde, ändere sie noch einmal in der App."
        )
    )
    /// The form that restores a former address.
    static let undo = AccountFormTexts(
        heading: LocalizedText(
            en: "Restore your email address",
            es: "Recupera tu correo electrónico",
            he: "שחזור כתובת האימייל",
            pt: "Recupere seu endereço de e-mail",
            fr: "Rétablissez votre adresse e-mail",
            de: "Stelle deine E-Mail-Adresse wieder her"
        ),
        lead: LocalizedText(
            en:
                "This address will belong to your account again. All sessions will end, and the password will no longer work: you will set a new one.",
            es:
                "Esta dirección volverá a pertenecer a tu cuenta. Se cerrarán todas las sesiones y la contraseña dejará de funcionar: definirás una nueva.",
            he: "הכתובת הזו תהיה שייכת שוב לחשבון שלך. כל החיבורים ינותקו והסיסמה לא תפעל עוד: תוגדר סיסמה חדשה.",
            pt:
                "Este endereço voltará a pertencer à sua conta. Todas as sessões serão encerradas e a senha deixará de funcionar: você definirá uma nova.",
            fr:
                "Cette adresse appartiendra de nouveau à votre compte. Toutes les sessions seront fermées et le mot de passe ne fonctionnera plus\u{A0}: vous en définirez un nouveau.",
            de:
                "Diese Adresse gehört dann wieder zu deinem Konto. Alle Sitzungen werden beendet, und das Passwort gilt nicht mehr: Du legst ein neues fest."
        ),
        submit: MailTexts.restoreAddressButton,
        expired: LocalizedText(
            en: "If this address belongs to your account, you can reset your password.",
            es: "Si esta dirección pertenece a tu cuenta, puedes restablecer tu contraseña.",
            he: "אם הכתובת הזו שייכת לחשבון שלך, אפשר לאפס את הסיסמה.",
            pt: "Se este endereço pertence à sua conta, você pode redefinir sua senha.",
            fr: "Si cette adresse appartient à votre compte, vous pouvez réinitialiser votre mot de passe.",
            de: "Wenn diese Adresse zu deinem Konto gehört, kannst du dein Passwort zurücksetzen."
        )
    )
    /// The form that restores a deleted account.
    static let keep = AccountFormTexts(
        heading: LocalizedText(
            en: "Restore your account",
            es: "Recupera tu cuenta",
            he: "שחזור החשבון",
            pt: "Recupere sua conta",
            fr: "Restaurez votre compte",
            de: "Stelle dein Konto wieder her"
        ),
        lead: LocalizedText(
            en: "Your account and its data will not be removed. Your password stays the same.",
            es: "Tu cuenta y sus datos no se borrarán. Tu contraseña seguirá siendo la misma.",
            he: "החשבון והנתונים שלו לא יימחקו. הסיסמה שלך לא תשתנה.",
            pt: "Sua conta e seus dados não serão apagados. Sua senha continuará a mesma.",
            fr: "Votre compte et ses données ne seront pas effacés. Votre mot de passe restera le même.",
            de: "Dein Konto und seine Daten werden nicht entfernt. Dein Passwort bleibt gleich."
        ),
        submit: MailTexts.keepButton,
        expired: LocalizedText(
            en: "If you have restored your account, sign in. Otherwise, it may already be removed; then you can register again.",
            es:
                "Si ya recuperaste tu cuenta, inicia sesión. Si no, es posible que ya se haya borrado; entonces puedes registrarte de nuevo.",
            he: "אם כבר שחזרת את החשבון, אפשר להתחבר. אחרת, ייתכן שהוא כבר נמחק; אז אפשר להירשם שוב.",
            pt:
                "Se você já recuperou sua conta, entre. Caso contrário, ela pode já ter sido apagada; então você pode se cadastrar novamente.",
            fr:
                "Si vous avez déjà restauré votre compte, connectez-vous. Sinon, il a peut-être déjà été effacé\u{A0}; vous pouvez alors vous inscrire à nouveau.",
            de:
                "Wenn du dein Konto wiederhergestellt hast, melde dich an. Andernfalls wurde es vielleicht schon entfernt; dann kannst du dich neu registrieren."
        )
    )

    /// The text after an address was verified with the current password.
    static let verified = LocalizedText(
        en: "Your email address is verified. You can continue in the app.",
        es: "Tu correo electrónico está verificado. Puedes continuar en la aplicación.",
        he: "כתובת האימייל שלך אומתה. אפשר להמשיך באפליקציה.",
        pt: "Seu e-mail foi verificado. Você pode continuar no app.",
        fr: "Votre adresse e-mail est vérifiée. Vous pouvez continuer dans l’application.",
        de: "Deine E-Mail-Adresse ist bestätigt. Du kannst in der App weitermachen."
    )
    /// The text after an address was verified with a new password.
    static let verifiedWithNewPassword = LocalizedText(
        en: "Your email address is verified, and your password has been updated. Please sign in with your new password.",
        es:
            "Tu correo electrónico está verificado y tu contraseña ha sido actualizada. Por favor, inicia sesión con tu nueva contraseña.",
        he: "כתובת האימייל שלך אומתה והסיסמה עודכנה. נא להתחבר עם הסיסמה החדשה.",
        pt: "Seu e-mail foi verificado e sua senha foi atualizada. Por favor, entre com sua nova senha.",
        fr:
            "Votre adresse e-mail est vérifiée et votre mot de passe a été mis à jour. Veuillez vous connecter avec votre nouveau mot de passe.",
        de:
            "Deine E-Mail-Adresse ist bestätigt, und dein Passwort wurde geändert. Bitte melde dich mit deinem neuen Passwort an."
    )
    /// The text after an account was created.
    static let activated = LocalizedText(
        en: "Your account has been created. Please sign in to the app.",
        es: "Tu cuenta ha sido creada. Por favor, inicia sesión en la aplicación.",
        he: "החשבון שלך נוצר. נא להתחבר באפליקציה.",
        pt: "Sua conta foi criada. Por favor, entre no app.",
        fr: "Votre compte a été créé. Veuillez vous connecter dans l’application.",
        de: "Dein Konto wurde erstellt. Bitte melde dich in der App an."
    )
    /// The text after the address of an account was changed.
    static let emailConfirmed = LocalizedText(
        en: "Your email address has been changed. Please sign in with your new address.",
        es: "Tu correo electrónico ha sido cambiado. Por favor, inicia sesión con tu nueva dirección.",
        he: "כתובת האימייל שלך שונתה. נא להתחבר עם הכתובת החדשה.",
        pt: "Seu e-mail foi alterado. Por favor, entre com seu novo endereço.",
        fr: "Votre adresse e-mail a été modifiée. Veuillez vous connecter avec votre nouvelle adresse.",
        de: "Deine E-Mail-Adresse wurde geändert. Bitte melde dich mit deiner neuen Adresse an."
    )
    /// The text after a former address was restored. It is above the form that requests a reset link.
    static let emailRestored = LocalizedText(
        en: "Your email address has been restored, and all sessions have ended. To sign in again, set a new password.",
        es:
            "Tu correo electrónico ha sido recuperado y todas las sesiones se cerraron. Para volver a iniciar sesión, define una nueva contraseña.",
        he: "כתובת האימייל שלך שוחזרה וכל החיבורים נותקו. כדי להתחבר שוב, יש להגדיר סיסמה חדשה.",
        pt:
            "Seu endereço de e-mail foi recuperado e todas as sessões foram encerradas. Para entrar novamente, defina uma nova senha.",
        fr:
            "Votre adresse e-mail a été rétablie et toutes les sessions ont été fermées. Pour vous reconnecter, définissez un nouveau mot de passe.",
        de:
            "Deine E-Mail-Adresse wurde wiederhergestellt, und alle Sitzungen wurden beendet. Um dich wieder anzumelden, lege ein neues Passwort fest."
    )
    /// The text after an account was restored.
    static let accountKept = LocalizedText(
        en: "Your account has been restored. Please sign in with your password.",
        es: "Tu cuenta ha sido recuperada. Por favor, inicia sesión con tu contraseña.",
        he: "החשבון שלך שוחזר. נא להתחבר עם הסיסמה שלך.",
        pt: "Sua conta foi recuperada. Por favor, entre com sua senha.",
        fr: "Votre compte a été restauré. Veuillez vous connecter avec votre mot de passe.",
        de: "Dein Konto wurde wiederhergestellt. Bitte melde dich mit deinem Passwort an."
    )
}
