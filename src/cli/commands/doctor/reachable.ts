import { ask, isRecord } from '../../../client/base/index.ts';
import { createOperatorClient, createPartnerClient } from '../../../client/index.ts';
import { overNetwork } from '../../../kernel/network.ts';
import { isProblem } from '../../../kernel/problems.ts';
import { encrypted, readKeyFile } from '../../session/index.ts';
import { type Environment, givenTo, settingsIn } from '../../settings/index.ts';
import { type Check, type Finding, failed, ok, type Patient, warning } from './checks.ts';

const networkFetch = overNetwork();
/** Less than the limit of a check, so that a slow service is named. */
export const PATIENCE_MS = 4000;

/** Checks the services that a profile names by address, and the keys for them. */
export function serviceChecks({ profile, environment }: Patient): Check[] {
  if (profile.isEmbedded && profile.partnerUrl === null) {
    return [{ id: 'services', run: () => ok('Embedded: they run inside each command') }];
  }
  const { flightsUrl, partnerUrl } = profile;
  /** False if the network could read a key: then no key is tried. */
  const isEncrypted = (url: string, setting: 'flights_url' | 'partner_url') => {
    try {
      return encrypted(url, setting, profile) !== '';
    } catch {
      return false;
    }
  };
  const operatorKey = secret(environment, 'operator_key', profile.operatorKeyFile);
  const apiKey = secret(environment, 'api_key', profile.apiKeyFile);
  const customerToken = secret(environment, 'customer_token', profile.customerTokenFile);
  const serviceName = () => settingsIn(environment)('service_name') ?? 'farelock';
  const partner = (baseUrl: string) =>
    createPartnerClient({
      baseUrl,
      fetch: networkFetch,
      serviceName: serviceName(),
      timeoutMs: PATIENCE_MS,
      apiKey: async () => apiKey?.() ?? '',
      customerToken: async () => customerToken?.() ?? '',
    });
  const taken = (id: string, call: (signal: AbortSignal) => Promise<unknown>): Check => ({
    id,
    async run(signal) {
      await call(signal);
      return ok('Accepted');
    },
  });
  const checks: Check[] = [
    {
      id: 'flight_service',
      run: async (signal) =>
        flightsUrl === null
          ? ok('This profile has none')
          : reaching(readiness(encrypted(flightsUrl, 'flights_url', profile), signal)),
    },
  ];
  if (flightsUrl !== null && operatorKey && isEncrypted(flightsUrl, 'flights_url')) {
    const operator = () => createOperatorClient({ baseUrl: flightsUrl, fetch: networkFetch, key: operatorKey() });
    checks.push(taken('operator_key', (signal) => operator().switches({ signal })));
  }
  if (partnerUrl === null) return checks;
  checks.push({
    id: 'partner_service',
    run: async (signal) => reaching(knocked(encrypted(partnerUrl, 'partner_url', profile), serviceName(), signal)),
  });
  if (!apiKey || !isEncrypted(partnerUrl, 'partner_url')) return checks;
  checks.push(taken('api_key', (signal) => partner(partnerUrl).orders({ pageSize: 1 }, { signal })));
  if (customerToken) checks.push(taken('customer_token', (signal) => partner(partnerUrl).requirements({ signal })));
  return checks;
}

/** Returns a reader of a given key, which never appears in a finding; null if none is given. */
function secret(
  environment: Environment,
  name: 'operator_key' | 'api_key' | 'customer_token',
  file: string | null,
): (() => string) | null {
  if (givenTo(name, environment)) return () => settingsIn(environment)(name) ?? '';
  return file === null ? null : () => readKeyFile(file);
}

const CHECK_ADDRESS = ['Check the address.', 'farelock config list --show-origin'] as const;

/** The reason of a failed connection, by the system's code. */
const WHY: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'its name could not be looked up',
  EHOSTUNREACH: 'it is not reachable',
  ENETUNREACH: 'it is not reachable',
  ECONNRESET: 'it hung up',
  UND_ERR_SOCKET: 'it hung up',
  UND_ERR_CONNECT_TIMEOUT: 'it refused the connection',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not signed by a trusted authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by a trusted authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not signed by a trusted authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

/** Turns a call that got no answer into a finding. */
export async function reaching(finding: Promise<Finding>): Promise<Finding> {
  try {
    return await finding;
  } catch (error) {
    if (isProblem(error, 'timed_out')) {
      return failed(error.message, 'It is slow or unreachable: try again, then ask its operator.', 'farelock doctor');
    }
    if (!isProblem(error, 'network_unreachable')) throw error;
    const why = WHY[codeOf(error) ?? ''];
    return failed(
      why === undefined ? error.message : error.message.replace(/\.$/, `: ${why}.`),
      'Start it, or check its address and the network.',
      'farelock config list --show-origin',
    );
  }
}

/** `fetch` fails with one word; the system's code is in the cause of its cause. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code } = error as NodeJS.ErrnoException;
  if (!isProblem(error) && typeof code === 'string' && code in WHY) return code;
  const causes = error instanceof AggregateError ? error.errors : [error.cause];
  return causes.map(codeOf).find((found) => found !== null) ?? null;
}

async function readiness(baseUrl: string, signal: AbortSignal): Promise<Finding> {
  const { host } = new URL(baseUrl);
  const at = (path: string) =>
    ask({ baseUrl, fetch: networkFetch, method: 'GET', path }, { timeoutMs: PATIENCE_MS, signal });
  try {
    const [health, ready] = await Promise.all([at('/health'), at('/ready')]);
    if (health.status !== 200) {
      return failed(`${host} answers ${health.status} to /health`, ...CHECK_ADDRESS);
    }
    if (ready.status === 200) return ok(`${host} is ready`);
    if (ready.status === 404) return warning(`${host} answers, and has no /ready`);
    const trouble = troubleOf(ready.body, 'escrow_program');
    if (trouble !== null) {
      return failed(`${host} creates no intents: ${trouble}`, 'Pay nothing into it. Its operator deploys it again.');
    }
    const refuses = troubleOf(ready.body, 'airline');
    if (refuses !== null) {
      return failed(
        `${host} sells nothing: its airline refuses its calls, ${refuses}`,
        'Its operator has to mend that.',
      );
    }
    const short = shortWallets(ready.body);
    if (short !== '') return failed(`${host} creates no intents: ${short}`, 'Send it what is missing.');
    const why = failedChecks(ready.body) || ready.status;
    return failed(`${host} runs, and is not ready (${why})`, 'Its operator can see why in the log.');
  } catch (error) {
    if (!isProblem(error, 'unexpected_answer')) throw error;
    return failed(`${host} is no flight service: its answer is not JSON`, ...CHECK_ADDRESS);
  }
}

/** The trouble with the escrow program or the airline that /ready reports. */
function troubleOf(body: unknown, part: 'escrow_program' | 'airline'): string | null {
  const said = isRecord(body) ? body[part] : null;
  return isRecord(said) && typeof said.trouble === 'string' ? said.trouble : null;
}

function failedChecks(body: unknown): string {
  const checks = isRecord(body) && isRecord(body.checks) ? body.checks : {};
  return Object.entries(checks)
    .filter(([, code]) => code !== 'ok')
    .map(([name, code]) => `${name}: ${code}`)
    .join(', ');
}

/** The operator's wallets that hold too little, according to /ready. */
function shortWallets(body: unknown): string {
  const wallets = isRecord(body) && Array.isArray(body.wallets) ? body.wallets.filter(isRecord) : [];
  return wallets
    .map((one) => `the ${one.wallet} ${one.address} holds ${one.holds} ${one.asset} and needs ${one.needs}`)
    .join('; ');
}

/** Calls without a key: a running partner service refuses that. */
async function knocked(baseUrl: string, serviceName: string, signal: AbortSignal): Promise<Finding> {
  const { host } = new URL(baseUrl);
  const path = `/${serviceName}.core.v1.partner.Service/GetOrders`;
  try {
    const answer = await ask(
      { baseUrl, fetch: networkFetch, method: 'POST', path, body: {} },
      { timeoutMs: PATIENCE_MS, signal },
    );
    if (answer.status === 401) return ok(`${host} answers`);
    return failed(
      `${host} answers ${answer.status} where a partner service asks for a key`,
      'Check the address, and FARELOCK_SERVICE_NAME.',
      'farelock config list --show-origin',
    );
  } catch (error) {
    if (!isProblem(error, 'unexpected_answer')) throw error;
    return failed(`${host} is no partner service: its answer is not JSON`, ...CHECK_ADDRESS);
  }
}
