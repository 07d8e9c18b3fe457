import { readFileSync } from 'node:fs';
import { problem } from '../kernel/problems.ts';
import type { ServiceOptions } from '../service-types.ts';
import type { Environment } from './context.ts';

/**
 * Where pages and mails go, from the environment; undefined when nothing is set. A secret can be given as the path
 * of a file instead, under the same name with `_FILE` behind it, so that it stands in no process list.
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

function secret(environment: Environment, name: string): string | undefined {
  const direct = environment[name]?.trim();
  const path = environment[`${name}_FILE`];
  if (direct || !path) return direct || undefined;
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch (error) {
    throw problem('usage', {
      message: `The file that ${name}_FILE names cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`,
      fix: 'Check the path and who may read it, or unset the variable.',
    });
  }
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
