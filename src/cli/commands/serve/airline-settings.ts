import { problem } from '../../../kernel/problems.ts';
import { shownUrl } from '../../../kernel/shown-url.ts';
import type { AirlineSettings } from '../../../service/index.ts';
import { isLoopback } from '../../session/index.ts';
import { type Environment, secret } from '../../settings/index.ts';

/** Options of `serve` about whose seats are sold. */
export interface AirlineOptions {
  readonly provider?: 'sandbox' | 'duffel';
  readonly duffelUrl?: string;
  readonly duffelTokenFile?: string;
  readonly lowcost?: 'none' | 'sandbox' | 'browser';
}

/** Whose seats `serve` sells, as it prints at its start. */
export interface SoldFrom {
  readonly provider: 'sandbox' | 'duffel';
  /** `live`: seats of real airlines are paid for. */
  readonly mode: 'test' | 'live';
  readonly lowcost: 'none' | 'sandbox' | 'browser';
}

export function soldFrom(settings: AirlineSettings | undefined): SoldFrom {
  const { provider, lowcost } = settings ?? { provider: 'sandbox', lowcost: 'sandbox' };
  const isDuffel = provider !== 'sandbox';
  return {
    provider: isDuffel ? provider.name : provider,
    mode: isDuffel && provider.token.startsWith('duffel_live_') ? 'live' : 'test',
    lowcost: typeof lowcost === 'string' ? lowcost : lowcost.name,
  };
}

const DUFFEL_URL = 'https://api.duffel.com';

/**
 * The airlines that `serve` sells from; undefined: the sandbox's, both tiers. A real provider sells no invented
 * lowcost flights beside its own, unless it is told to. Tokens come from the environment or a file, never from the
 * command line.
 * @throws Problem `usage`, `address_unencrypted`
 */
export function airlineSettings(environment: Environment, options: AirlineOptions): AirlineSettings | undefined {
  const { provider = 'sandbox', duffelUrl, duffelTokenFile, lowcost } = options;
  if (provider === 'sandbox') {
    const other = duffelUrl === undefined ? duffelTokenFile && '--duffel-token-file' : '--duffel-url';
    if (other) {
      throw problem('usage', {
        message: `${other} belongs to --provider duffel.`,
        fix: `Add --provider duffel, or leave out ${other}.`,
      });
    }
    return lowcost === undefined ? undefined : { provider, lowcost: tierOf(environment, lowcost) };
  }
  return {
    provider: {
      name: 'duffel',
      url: checkedUrl(duffelUrl ?? DUFFEL_URL),
      token: tokenOf(environment, duffelTokenFile),
      webhookSecret: secret(environment, 'FARELOCK_DUFFEL_WEBHOOK_SECRET'),
    },
    lowcost: tierOf(environment, lowcost ?? 'none'),
  };
}

/** @throws Problem `usage` where no carrier is named */
function tierOf(environment: Environment, lowcost: NonNullable<AirlineOptions['lowcost']>): AirlineSettings['lowcost'] {
  if (lowcost !== 'browser') return lowcost;
  const listed = (name: string) =>
    (environment[name] ?? '')
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '');
  const recipes = listed('FARELOCK_RECIPES');
  if (recipes.length === 0) {
    throw problem('usage', {
      message: '--lowcost browser needs the recipes of carriers.',
      fix: 'Name their files or folders in FARELOCK_RECIPES, commas between them (docs/carriers.md).',
    });
  }
  return {
    name: 'browser',
    sites: {
      recipes,
      sites: Object.fromEntries(listed('FARELOCK_CARRIER_SITES').map(siteOf)),
      chromium: environment.FARELOCK_CHROMIUM || undefined,
      mostBrowsers: numberIn(environment, 'FARELOCK_BROWSERS', 1, 50),
      visitMs: secondsIn(environment, 'FARELOCK_VISIT_SECONDS', 30, 180),
      mailFolder: environment.FARELOCK_CARRIER_MAIL_FOLDER || undefined,
      mailAddress: environment.FARELOCK_CARRIER_MAIL_ADDRESS || undefined,
    },
  };
}

/** @throws Problem `usage` */
function numberIn(environment: Environment, name: string, least: number, most: number): number | undefined {
  const text = environment[name] ?? '';
  if (text === '') return undefined;
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw problem('usage', {
    message: `${name} must be ${least} to ${most}.`,
    fix: `Set it to a whole number from ${least} to ${most}, or unset it.`,
  });
}

const secondsIn = (...given: Parameters<typeof numberIn>): number | undefined => {
  const seconds = numberIn(...given);
  return seconds === undefined ? undefined : seconds * 1000;
};

/** `X9=http://127.0.0.1:4050` */
function siteOf(text: string): [string, string] {
  const [, code, address] = /^(\w{2,3})=(https?:.+)$/.exec(text) ?? [];
  if (code !== undefined && address !== undefined && URL.canParse(address)) return [code, address];
  throw problem('usage', {
    message: 'FARELOCK_CARRIER_SITES is not a list of carriers and addresses.',
    fix: 'Set it to one such as X9=http://127.0.0.1:4050, or unset it.',
  });
}

function tokenOf(environment: Environment, file: string | undefined): string {
  const named = file === undefined ? environment : { FARELOCK_DUFFEL_TOKEN_FILE: file };
  const token = secret(named, 'FARELOCK_DUFFEL_TOKEN');
  if (token !== undefined) return checkedToken(token);
  throw problem('usage', {
    message: file === undefined ? '--provider duffel needs a token.' : 'The file of --duffel-token-file is empty.',
    fix: 'Set FARELOCK_DUFFEL_TOKEN, or name a file with --duffel-token-file or FARELOCK_DUFFEL_TOKEN_FILE.',
  });
}

/** Takes a token of either kind alone: any other might buy for real money. @throws Problem `usage` */
function checkedToken(token: string): string {
  if (/^duffel_(test|live)_[\w-]+$/.test(token)) return token;
  throw problem('usage', {
    message: 'The Duffel token is not one: it begins with duffel_test_ or duffel_live_.',
    fix: 'Copy it from the access tokens of your Duffel account.',
  });
}

/** The token and passengers are sent there. */
function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '') {
    throw problem('usage', {
      message: '--duffel-url is not the address of an API.',
      fix: `Give one such as ${DUFFEL_URL}.`,
    });
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw problem('address_unencrypted', {
      message: `--duffel-url is ${shownUrl(text)}: the token and passengers would be sent unencrypted.`,
      fix: 'Use https://.',
    });
  }
  return text;
}
