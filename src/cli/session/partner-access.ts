import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  createOperatorClient,
  createPartnerDesk,
  loadPartner,
  type OperatorClient,
  type PartnerDesk,
} from '../../client/index.ts';
import type { Fetch } from '../../kernel/http.ts';
import { overNetwork } from '../../kernel/network.ts';
import { once } from '../../kernel/once.ts';
import { problem } from '../../kernel/problems.ts';
import { type Environment, type Profile, settingsIn } from '../settings/index.ts';
import { readKeyFile, readOwnKeyFile } from './key-file.ts';
import { encrypted } from './profile-in-use.ts';

/** The partner and the customer to act as; by default those of the environment, the profile or the sandbox. */
export interface PartnerIdentity {
  /** `--partner`: the key file of this partner under FARELOCK_HOME. */
  readonly partner?: string | undefined;
  /** `--customer`: a token for this customer, made with the operator's key. */
  readonly customer?: string | undefined;
}

export type PartnerAccess = Readonly<Awaited<ReturnType<typeof openPartner>>>;

interface PartnerAccessGiven {
  readonly environment: Environment;
  readonly profile: Profile;
  readonly home: string;
  readonly timeoutMs: number | undefined;
  /** The embedded service's fetch, and the operator's key file, made on first use. */
  readonly embedded: () => Promise<{ fetch: Fetch; operatorKeyFile(): Promise<string> }>;
}

const EMBEDDED_URL = 'http://farelock.local';
const SANDBOX_PARTNER = 'par_sandbox_bank';
const SANDBOX_CUSTOMER = 'cus_demo_ana';

type Place = Awaited<ReturnType<typeof placeOf>>;

/**
 * Finds the partner service; `operatorKeyFile` is null for a remote one.
 * @throws Problem `usage` for a profile without a partner service, `address_unencrypted`
 */
async function placeOf({ profile, embedded }: PartnerAccessGiven) {
  if (profile.partnerUrl !== null) {
    const baseUrl = encrypted(profile.partnerUrl, 'partner_url', profile);
    return { baseUrl, fetch: overNetwork(), operatorKeyFile: null };
  }
  if (!profile.isEmbedded) {
    // The address of a flight service does not get the key of a partner unless a setting says so.
    throw problem('usage', {
      message: `Profile ${profile.name} names no partner service.`,
      fix: 'Set FARELOCK_PARTNER_URL, or partner_url of the profile.',
    });
  }
  const service = await embedded();
  return { baseUrl: EMBEDDED_URL, fetch: service.fetch, operatorKeyFile: service.operatorKeyFile };
}

/** Opens the partner service as one partner and, if needed, for one customer. No key is ever in argv. */
export async function openPartner(given: PartnerAccessGiven, who: PartnerIdentity) {
  const { environment, timeoutMs } = given;
  const [place, { createPartnerClient }] = await Promise.all([placeOf(given), loadPartner()]);
  const apiKey = once(() => apiKeyOf(given, place, who.partner));
  return {
    client: createPartnerClient({
      baseUrl: place.baseUrl,
      fetch: place.fetch,
      serviceName: settingsIn(environment)('service_name') ?? 'farelock',
      timeoutMs,
      apiKey,
      customerToken: once(() => customerTokenOf(given, place, who.customer)),
    }),
    /** Tells the environment by the prefix of the key; a key without one is treated as live. */
    environment: async () => ((await apiKey()).startsWith('flk_demo_') ? 'demo' : 'live'),
  };
}

/** Opens the operator's desk of the partner service. @throws Problem `no_operator_key` */
export async function openPartnerDesk(given: PartnerAccessGiven): Promise<PartnerDesk> {
  return deskAt(given, await placeOf(given));
}

async function deskAt(given: PartnerAccessGiven, { baseUrl, fetch, operatorKeyFile }: Place): Promise<PartnerDesk> {
  const { timeoutMs } = given;
  return createPartnerDesk({ baseUrl, fetch, timeoutMs, key: await operatorKey(given, operatorKeyFile) });
}

/** Reads FARELOCK_OPERATOR_KEY, the profile's file or the embedded stack's own; never argv. */
async function operatorKey(
  { environment, profile }: PartnerAccessGiven,
  own: Place['operatorKeyFile'],
): Promise<string> {
  const key =
    settingsIn(environment)('operator_key') ??
    ((profile.operatorKeyFile !== null && readKeyFile(profile.operatorKeyFile)) ||
      (own && readOwnKeyFile(await own())));
  if (!key) throw problem('no_operator_key');
  return key;
}

/** From --partner, FARELOCK_API_KEY, the profile or, if embedded, the sandbox bank. @throws Problem `no_api_key` */
async function apiKeyOf(given: PartnerAccessGiven, place: Place, partner: string | undefined): Promise<string> {
  const { environment, profile, home } = given;
  if (partner === undefined) {
    const named = settingsIn(environment)('api_key');
    if (named !== undefined) return named;
    if (profile.apiKeyFile !== null) return readKeyFile(profile.apiKeyFile);
    if (place.operatorKeyFile === null) throw problem('no_api_key');
  } else if (!/^[\w.-]{1,100}$/.test(partner)) {
    throw problem('usage', {
      message: `--partner must be a partner id (got ${partner}).`,
      fix: 'Use its id, such as par_sandbox_bank.',
    });
  }
  const path = join(home, 'keys', `partner-${partner ?? SANDBOX_PARTNER}.key`);
  // The embedded service makes the demo partners and their key files when it is first asked for them.
  if (!existsSync(path) && place.operatorKeyFile !== null) await (await deskAt(given, place)).partners();
  if (!existsSync(path)) {
    throw problem('no_api_key', {
      message: `There is no key for ${partner ?? SANDBOX_PARTNER} here.`,
      fix: `Put it into ${path} (chmod 600), or set FARELOCK_API_KEY.`,
    });
  }
  return readKeyFile(path);
}

async function customerTokenOf(given: PartnerAccessGiven, place: Place, customer: string | undefined): Promise<string> {
  const { environment, profile } = given;
  if (customer === undefined) {
    const named = settingsIn(environment)('customer_token');
    if (named !== undefined) return named;
    if (profile.customerTokenFile !== null) return readKeyFile(profile.customerTokenFile);
    if (place.operatorKeyFile === null) throw problem('no_customer_token');
  }
  const desk = await deskAt(given, place);
  return (await desk.customerToken(customer ?? SANDBOX_CUSTOMER, undefined)).token;
}

/** Opens the operator API of the flight service. @throws Problem `no_operator_key`, `key_file_unreadable` */
export async function openOperator(
  given: PartnerAccessGiven,
  place: Pick<Place, 'baseUrl' | 'fetch'>,
): Promise<OperatorClient> {
  const own = given.profile.isEmbedded ? async () => (await given.embedded()).operatorKeyFile() : null;
  return createOperatorClient({ ...place, timeoutMs: given.timeoutMs, key: await operatorKey(given, own) });
}
