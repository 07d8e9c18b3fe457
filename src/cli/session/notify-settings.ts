import { problem } from '../../kernel/problems.ts';
import type { ServiceOptions } from '../../service/types.ts';
import type { Environment } from '../spec/globals.ts';
import { secret } from './secret-variable.ts';

/**
 * Where pages and mails go, from the environment; undefined when nothing is set.
 * @throws Problem `usage`
 */
export function notifySettings(environment: Environment): ServiceOptions['notify'] {
  const settings = {
    smtpUrl: secret(environment, 'FARELOCK_SMTP_URL'),
    mailFrom: environment.FARELOCK_MAIL_FROM?.trim() || undefined,
    pageUrl: secret(environment, 'FARELOCK_PAGE_URL'),
    telegramToken: secret(environment, 'FARELOCK_TELEGRAM_TOKEN'),
    telegramChat: environment.FARELOCK_TELEGRAM_CHAT?.trim() || undefined,
  };
  return Object.values(settings).some((value) => value !== undefined) ? settings : undefined;
}

/**
 * Days after a journey until its personal data goes; undefined when it isn't set.
 * @throws Problem `usage`
 */
export function purgeAfterDays(environment: Environment): number | undefined {
  const text = environment.FARELOCK_PURGE_AFTER_DAYS;
  if (!text) return undefined;
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw problem('usage', {
    message: `FARELOCK_PURGE_AFTER_DAYS is not a number of days: ${text}.`,
    fix: 'Set it to 30, or unset it.',
  });
}
