import { problem } from '../../../kernel/problems.ts';
import { shownUrl } from '../../../kernel/shown-url.ts';
import type { AirlineSettings } from '../../../service/index.ts';
import { isLoopback, readSecretFile } from '../../session/index.ts';
import { type Environment, rowOf, settingsIn } from '../../settings/index.ts';
import type { OptionsOf } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import type * as result from './result.ts';
import type * as spec from './spec.ts';

export function soldFrom(settings: AirlineSettings | undefined): DocumentOf<typeof result.worker>['airline'] {
  const { provider, lowcost } = settings ?? { provider: 'sandbox', lowcost: 'sandbox' };
  const isDuffel = provider !== 'sandbox';
  return {
    provider: isDuffel ? provider.name : provider,
    mode: isDuffel && provider.token.startsWith('duffel_live_') ? 'live' : 'test',
    lowcost: typeof lowcost === 'string' ? lowcost : lowcost.name,
  };
}

/**
 * The airlines that `serve` sells from; undefined for both tiers of the sandbox. Beside a real provider no invented
 * low-cost flights are sold, unless an option asks for them. Tokens come from the environment or a file, never from the
 * command line.
 * @throws Problem `usage`, `address_unencrypted`
 */
export function airlineSettings(
  environment: Environment,
  options: Pick<OptionsOf<typeof spec.serve>, 'provider' | 'duffelUrl' | 'duffelTokenFile' | 'lowcost'>,
): AirlineSettings | undefined {
  const setting = settingsIn(environment, options);
  const { duffelTokenFile } = options;
  const lowcost = setting('lowcost');
  const provider = setting('provider') ?? 'sandbox';
  if (provider !== 'duffel') {
    const other = options.duffelUrl === undefined ? duffelTokenFile && '--duffel-token-file' : '--duffel-url';
    if (other) {
      throw problem('usage', {
        message: `${other} belongs to --provider duffel.`,
        fix: `Add --provider duffel, or leave out ${other}.`,
      });
    }
    return lowcost === undefined ? undefined : { provider, lowcost: tierOf(setting, lowcost) };
  }
  const named = duffelTokenFile === undefined ? environment : { FARELOCK_DUFFEL_TOKEN_FILE: duffelTokenFile };
  const token = settingsIn(named)('duffel_token');
  if (token === undefined) {
    throw problem('usage', {
      message:
        duffelTokenFile === undefined
          ? '--provider duffel needs a token.'
          : 'The file of --duffel-token-file is empty.',
      fix: 'Set FARELOCK_DUFFEL_TOKEN, or name a file with --duffel-token-file or FARELOCK_DUFFEL_TOKEN_FILE.',
    });
  }
  const url = encryptedUrl(setting('duffel_url') ?? rowOf('duffel_url').example);
  return {
    provider: { name: 'duffel', url, token, webhookSecret: setting('duffel_webhook_secret') },
    lowcost: tierOf(setting, lowcost ?? 'none'),
  };
}

/** @throws Problem `usage` if no recipe is named, and as accountsIn does */
function tierOf(
  setting: ReturnType<typeof settingsIn>,
  lowcost: 'none' | 'sandbox' | 'browser',
): AirlineSettings['lowcost'] {
  if (lowcost !== 'browser') return lowcost;
  const recipes = setting('recipes') ?? [];
  if (recipes.length === 0) {
    throw problem('usage', {
      message: '--lowcost browser needs the recipes of carriers.',
      fix: 'Name their files or folders in FARELOCK_RECIPES, commas between them (docs/carriers.md).',
    });
  }
  const visitSeconds = setting('visit_seconds');
  return {
    name: 'browser',
    sites: {
      recipes,
      sites: setting('carrier_sites') ?? {},
      chromium: setting('chromium'),
      mostBrowsers: setting('browsers'),
      visitMs: visitSeconds && visitSeconds * 1000,
      mailFolder: setting('carrier_mail_folder'),
      mailAddress: setting('carrier_mail_address'),
      codeFolder: setting('carrier_code_folder'),
      accounts: accountsIn(setting('carrier_accounts')),
    },
  };
}

/** Accounts by carrier code: `{"X9":{"user":"…","password":"…"}}`. @throws Problem `key_file_unreadable`, `usage` */
export function accountsIn(file: string | undefined): Record<string, { user: string; password: string }> | undefined {
  if (file === undefined) return undefined;
  const wrong = problem('usage', {
    message: `${file} does not list accounts.`,
    fix: 'Write {"X9":{"user":"…","password":"…"}}, by carrier code.',
  });
  let read: unknown;
  try {
    read = JSON.parse(readSecretFile(file));
  } catch (error) {
    throw error instanceof SyntaxError ? wrong : error;
  }
  const isAccount = (one: unknown) =>
    one !== null &&
    typeof one === 'object' &&
    'user' in one &&
    'password' in one &&
    [one.user, one.password].every((text) => typeof text === 'string' && text !== '');
  if (read === null || typeof read !== 'object' || !Object.values(read).every(isAccount)) throw wrong;
  return read as Record<string, { user: string; password: string }>;
}

/** Refuses an address where the token and passengers could be read on the way. @throws Problem `address_unencrypted` */
function encryptedUrl(url: string): string {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || isLoopback(hostname)) return url;
  throw problem('address_unencrypted', {
    message: `--duffel-url is ${shownUrl(url)}: the token and passengers would be sent unencrypted.`,
    fix: 'Use https://.',
  });
}
