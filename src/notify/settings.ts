import { problem } from '../kernel/problems.ts';
import type { NotifySettings } from './message.ts';

export const DEFAULT_SENDER = 'Farelock <farelock@localhost>';

/**
 * Refuses settings that can't work, under the names of their variables. Nothing that is wrong is repeated in the
 * problem: most of it is secret.
 * @throws Problem `usage`
 */
export function checkSettings(settings: NotifySettings): void {
  if (settings.smtpUrl !== undefined) {
    const url = parsed(settings.smtpUrl);
    if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
      throw wrong('FARELOCK_SMTP_URL', 'is not an smtp:// or smtps:// address.');
    }
    if (settings.mailFrom === undefined) throw wrong('FARELOCK_MAIL_FROM', 'is missing: e-mails need a sender.');
  }
  if (settings.mailFrom !== undefined && !/^[^\r\n]*[^\s<>@]+@[^\s<>@]+>?$/.test(settings.mailFrom)) {
    throw wrong('FARELOCK_MAIL_FROM', 'is not an e-mail address.');
  }
  if (settings.pageUrl !== undefined) {
    const url = parsed(settings.pageUrl);
    const ok = url && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)));
    if (!ok) throw wrong('FARELOCK_PAGE_URL', 'must be https, or http to this machine.');
  }
  if ((settings.telegramToken === undefined) !== (settings.telegramChat === undefined)) {
    throw wrong('FARELOCK_TELEGRAM_TOKEN', 'and FARELOCK_TELEGRAM_CHAT belong together; one is missing.');
  }
  if (settings.telegramToken !== undefined && !/^\d+:[\w-]+$/.test(settings.telegramToken)) {
    throw wrong('FARELOCK_TELEGRAM_TOKEN', 'is not a bot token.');
  }
}

export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || hostname === '::1' || /^127(\.\d{1,3}){3}$/.test(hostname);

const parsed = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);

const wrong = (name: string, what: string) =>
  problem('usage', { message: `${name} ${what}`, fix: `Correct ${name}, or unset it.` });
