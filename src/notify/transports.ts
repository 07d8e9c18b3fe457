import { join } from 'node:path';
import type { NotifySettings, Transports } from './message.ts';

/**
 * Chooses the ways out. Pages: the webhook, else Telegram, else a line in `outbox/pages.ndjson`. Mails: SMTP, else a
 * file each under `outbox/mail/`. Each is loaded with the first message that takes it.
 * @param home FARELOCK_HOME
 * @param settings checked by `checkSettings`
 */
export function createTransports(home: string, settings: NotifySettings = {}): Transports {
  const pages = join(home, 'outbox', 'pages.ndjson');
  const mails = join(home, 'outbox', 'mail');
  return {
    async page(message, delivery, signal) {
      if (settings.pageUrl !== undefined) {
        const { postPage } = await import('./webhook.ts');
        return postPage(settings.pageUrl, message, delivery, signal);
      }
      if (settings.telegramToken !== undefined && settings.telegramChat !== undefined) {
        const { sendTelegram } = await import('./webhook.ts');
        const { telegramToken: token, telegramChat: chat } = settings;
        return sendTelegram({ token, chat, origin: settings.telegramOrigin }, message, signal);
      }
      const { appendPage } = await import('./files.ts');
      appendPage(pages, message, delivery);
    },

    async mail(message, delivery, signal) {
      const { composeMail } = await import('./compose.ts');
      const mail = await composeMail(message, delivery, settings.mailFrom);
      if (settings.smtpUrl !== undefined) {
        const { sendSmtp } = await import('./smtp.ts');
        return sendSmtp(settings.smtpUrl, mail, signal);
      }
      const { writeMail } = await import('./files.ts');
      writeMail(mails, delivery.id, mail.raw);
    },

    async forget(messageId) {
      const { removeMail } = await import('./files.ts');
      removeMail(mails, messageId);
    },
  };
}
