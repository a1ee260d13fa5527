import ErrorContract

/// The texts of the screen of pending requests.
///
/// Buttons that also exist on other screens, such as "Try Again", use the texts of `ContractText`. In a text with `{number}`, the
/// placeholder is replaced by a count, formatted for the language.
enum PendingText {
    /// The title of the screen.
    static let title = LocalizedText(
        en: "Pending Changes",
        es: "Cambios pendientes",
        he: "שינויים ממתינים",
        pt: "Alterações pendentes",
        fr: "Modifications en attente",
        de: "Ausstehende Änderungen"
    )
    /// The text of an empty list.
    static let empty = LocalizedText(
        en: "All changes have been sent",
        es: "Se han enviado todos los cambios",
        he: "כל השינויים נשלחו",
        pt: "Todas as alterações foram enviadas",
        fr: "Toutes les modifications ont été envoyées",
        de: "Alle Änderungen wurden gesendet"
    )
    static let failedSection = LocalizedText(
        en: "Not sent",
        es: "No enviados",
        he: "לא נשלחו",
        pt: "Não enviadas",
        fr: "Non envoyées",
        de: "Nicht gesendet"
    )
    static let waitingSection = LocalizedText(
        en: "To be sent",
        es: "Por enviar",
        he: "לשליחה",
        pt: "A enviar",
        fr: "À envoyer",
        de: "Noch zu senden"
    )
    /// The text about requests beyond the limit of the list.
    static let more = LocalizedText(
        en: "And {number} more",
        es: "Y {number} más",
        he: "ועוד {number}",
        pt: "E mais {number}",
        fr: "Et {number} de plus",
        de: "Und {number} weitere"
    )

    // The states of a request.
    static let waiting = LocalizedText(
        en: "Waiting to be sent",
        es: "Pendiente de envío",
        he: "בהמתנה לשליחה",
        pt: "Aguardando envio",
        fr: "En attente d’envoi",
        de: "Wartet auf das Senden"
    )
    static let waitingForNetwork = LocalizedText(
        en: "Waiting for network",
        es: "Esperando conexión",
        he: "בהמתנה לרשת",
        pt: "Aguardando conexão",
        fr: "En attente du réseau",
        de: "Wartet auf Netz"
    )
    static let waitingForRetry = LocalizedText(
        en: "Couldn't be sent yet and will be tried again",
        es: "Aún no se ha podido enviar y se volverá a intentar",
        he: "עדיין לא ניתן לשלוח, יתבצע ניסיון נוסף",
        pt: "Ainda não foi possível enviar; haverá uma nova tentativa",
        fr: "Pas encore envoyée, une nouvelle tentative aura lieu",
        de: "Konnte noch nicht gesendet werden und wird erneut versucht"
    )
    /// The state of a request in a lane that stopped because of an earlier request.
    static let waitingForPredecessor = LocalizedText(
        en: "Waiting for an earlier change that was not sent",
        es: "Esperando un cambio anterior que no se envió",
        he: "בהמתנה לשינוי קודם שלא נשלח",
        pt: "Aguardando uma alteração anterior que não foi enviada",
        fr: "En attente d’une modification précédente qui n’a pas été envoyée",
        de: "Wartet auf eine frühere Änderung, die nicht gesendet wurde"
    )
    static let signInToContinue = LocalizedText(
        en: "Sign in to continue",
        es: "Inicia sesión para continuar",
        he: "יש להתחבר כדי להמשיך",
        pt: "Entre para continuar",
        fr: "Connectez-vous pour continuer",
        de: "Melde dich an, um fortzufahren"
    )
    static let sending = LocalizedText(
        en: "Sending…",
        es: "Enviando…",
        he: "מתבצעת שליחה…",
        pt: "Enviando…",
        fr: "Envoi…",
        de: "Wird gesendet…"
    )
    /// The state of a request that was refused or failed too often. For a refused request, the text of the server's error is shown instead.
    static let failed = LocalizedText(
        en: "The change was not accepted",
        es: "El cambio no se ha aceptado",
        he: "השינוי לא התקבל",
        pt: "A alteração não foi aceita",
        fr: "La modification n’a pas été acceptée",
        de: "Die Änderung wurde nicht angenommen"
    )
    /// The state of a request that exceeded the time limit of the queue.
    static let expired = LocalizedText(
        en: "Not sent in time",
        es: "No se ha enviado a tiempo",
        he: "לא נשלח בזמן",
        pt: "Não foi enviada a tempo",
        fr: "Pas envoyée à temps",
        de: "Nicht rechtzeitig gesendet"
    )
    /// The state of a dead letter that the server may have performed.
    static let unknownOutcome = LocalizedText(
        en: "Sent, but it is not known whether it was saved",
        es: "Enviado, pero no se sabe si se ha guardado",
        he: "נשלח, אבל לא ידוע אם נשמר",
        pt: "Enviada, mas não se sabe se foi salva",
        fr: "Envoyée, mais on ne sait pas si elle a été enregistrée",
        de: "Gesendet, aber es ist nicht bekannt, ob sie gespeichert wurde"
    )

    // The buttons.
    static let cancel = LocalizedText(
        en: "Don't Send",
        es: "No enviar",
        he: "לא לשלוח",
        pt: "Não enviar",
        fr: "Ne pas envoyer",
        de: "Nicht senden"
    )
    static let remove = LocalizedText(
        en: "Remove",
        es: "Quitar",
        he: "הסרה",
        pt: "Remover",
        fr: "Retirer",
        de: "Entfernen"
    )
    static let sendNow = LocalizedText(
        en: "Send Now",
        es: "Enviar ahora",
        he: "לשלוח עכשיו",
        pt: "Enviar agora",
        fr: "Envoyer maintenant",
        de: "Jetzt senden"
    )

    // The questions before an action.
    /// The question before removing a request that the server may have received.
    static let removeQuestion = LocalizedText(
        en: "The server may have received this change already. Removing it here doesn't undo it.",
        es: "Es posible que el servidor ya haya recibido este cambio. Quitarlo aquí no lo deshace.",
        he: "ייתכן שהשרת כבר קיבל את השינוי הזה. הסרתו כאן לא תבטל אותו.",
        pt: "O servidor talvez já tenha recebido esta alteração. Removê-la aqui não a desfaz.",
        fr: "Le serveur a peut-être déjà reçu cette modification. La retirer ici ne l’annule pas.",
        de: "Der Server hat diese Änderung möglicherweise schon erhalten. Sie hier zu entfernen macht sie nicht rückgängig."
    )
    /// The question before sending a request with an unknown outcome again.
    static let retryQuestion = LocalizedText(
        en: "The server may have saved this change already. Sending it again could save it twice.",
        es: "Es posible que el servidor ya haya guardado este cambio. Enviarlo de nuevo podría guardarlo dos veces.",
        he: "ייתכן שהשרת כבר שמר את השינוי הזה. שליחה נוספת עלולה לשמור אותו פעמיים.",
        pt: "O servidor talvez já tenha salvado esta alteração. Enviá-la de novo pode salvá-la duas vezes.",
        fr: "Le serveur a peut-être déjà enregistré cette modification. La renvoyer pourrait l’enregistrer deux fois.",
        de: "Der Server hat diese Änderung möglicherweise schon gespeichert. Erneutes Senden könnte sie zweimal speichern."
    )

    // The notices above the list.
    static let offline = LocalizedText(
        en: "You're offline. Changes are sent as soon as there is a connection.",
        es: "No tienes conexión. Los cambios se enviarán en cuanto la haya.",
        he: "אין חיבור לרשת. השינויים יישלחו ברגע שיהיה חיבור.",
        pt: "Você está offline. As alterações serão enviadas assim que houver conexão.",
        fr: "Vous êtes hors ligne. Les modifications seront envoyées dès qu’il y aura une connexion.",
        de: "Du bist offline. Änderungen werden gesendet, sobald eine Verbindung besteht."
    )
    /// The notice while no user is signed in.
    static let signedOut = LocalizedText(
        en: "Sign in to send the changes that are waiting: {number}",
        es: "Inicia sesión para enviar los cambios pendientes: {number}",
        he: "יש להתחבר כדי לשלוח את השינויים הממתינים: {number}",
        pt: "Entre para enviar as alterações pendentes: {number}",
        fr: "Connectez-vous pour envoyer les modifications en attente\u{A0}: {number}",
        de: "Melde dich an, um die ausstehenden Änderungen zu senden: {number}"
    )
    /// The notice about requests of other accounts. Only their number is shown.
    static let otherAccount = LocalizedText(
        en: "Changes of another account, which are sent when it signs in again: {number}",
        es: "Cambios de otra cuenta, que se enviarán cuando vuelva a iniciar sesión: {number}",
        he: "שינויים של חשבון אחר, שיישלחו כשהוא יתחבר שוב: {number}",
        pt: "Alterações de outra conta, que serão enviadas quando ela entrar de novo: {number}",
        fr: "Modifications d’un autre compte, envoyées à sa prochaine connexion\u{A0}: {number}",
        de: "Änderungen eines anderen Kontos, die gesendet werden, sobald es sich wieder anmeldet: {number}"
    )
    /// The notice for a queue that was copied from another device or a backup. The other copy may have sent the requests.
    static let restored = LocalizedText(
        en: "These changes come from another device or a backup. Send them only if they were not sent from there.",
        es: "Estos cambios proceden de otro dispositivo o de una copia de seguridad. Envíalos solo si no se enviaron desde allí.",
        he: "השינויים האלה הגיעו ממכשיר אחר או מגיבוי. יש לשלוח אותם רק אם לא נשלחו משם.",
        pt: "Estas alterações vêm de outro dispositivo ou de um backup. Envie-as somente se não foram enviadas de lá.",
        fr:
            "Ces modifications viennent d’un autre appareil ou d’une sauvegarde. Envoyez-les seulement si elles n’ont pas été envoyées de là.",
        de:
            "Diese Änderungen stammen von einem anderen Gerät oder aus einem Backup. Sende sie nur, wenn sie dort nicht gesendet wurden."
    )
    /// The announcement of a new dead letter.
    static let changeFailed = LocalizedText(
        en: "A change was not sent",
        es: "No se ha enviado un cambio",
        he: "שינוי לא נשלח",
        pt: "Uma alteração não foi enviada",
        fr: "Une modification n’a pas été envoyée",
        de: "Eine Änderung wurde nicht gesendet"
    )
}
