import { createOperatorClient } from '../../client/operator.ts';
import { createPartnerClient } from '../../client/partner.ts';
import { ask } from '../../client/transport.ts';
import type { Fetch } from '../../client/types.ts';
import { isProblem } from '../../kernel/problems.ts';
import { readKeyFile } from '../key-file.ts';
import { type Check, type Finding, failed, ok, type Patient, warning } from './checks.ts';

const PATIENCE_MS = 30_000;
const networkFetch: Fetch = (request) => fetch(request);

/** Both services of a profile by address, and whether they take the keys that are given for them. */
export function serviceChecks({ profile, environment }: Patient): Check[] {
  if (profile.isEmbedded && profile.partnerUrl === null) {
    return [{ id: 'services', run: async () => ok('Embedded: they run inside each command') }];
  }
  const { flightsUrl, partnerUrl } = profile;
  const operatorKey = secret(environment.FARELOCK_OPERATOR_KEY, profile.operatorKeyFile);
  const apiKey = secret(environment.FARELOCK_API_KEY, profile.apiKeyFile);
  const customerToken = secret(environment.FARELOCK_CUSTOMER_TOKEN, profile.customerTokenFile);
  const serviceName = environment.FARELOCK_SERVICE_NAME || 'farelock';
  const partner = (baseUrl: string) =>
    createPartnerClient({
      baseUrl,
      fetch: networkFetch,
      serviceName,
      timeoutMs: PATIENCE_MS,
      apiKey: async () => apiKey?.() ?? '',
      customerToken: async () => customerToken?.() ?? '',
    });
  const checks: Check[] = [];
  if (flightsUrl === null) {
    checks.push({ id: 'flight_service', run: async () => ok('This profile has none') });
  } else {
    checks.push({ id: 'flight_service', run: (signal) => readiness(flightsUrl, signal) });
    if (operatorKey) {
      checks.push({
        id: 'operator_key',
        run: async (signal) => {
          const ports = { baseUrl: flightsUrl, fetch: networkFetch, key: operatorKey() };
          await createOperatorClient(ports).switches({ signal });
          return ok('Accepted');
        },
      });
    }
  }
  if (partnerUrl === null) return checks;
  checks.push({
    id: 'partner_service',
    run: (signal) => knocked(partnerUrl, serviceName, signal),
  });
  if (apiKey) {
    checks.push({
      id: 'api_key',
      run: async (signal) => {
        await partner(partnerUrl).orders({ pageSize: 1 }, { signal });
        return ok('Accepted');
      },
    });
  }
  if (apiKey && customerToken) {
    checks.push({
      id: 'customer_token',
      run: async (signal) => {
        await partner(partnerUrl).requirements({ signal });
        return ok('Accepted');
      },
    });
  }
  return checks;
}

/** How to read a key that is given; null where none is. What is read never gets into a finding. */
function secret(named: string | undefined, file: string | null): (() => string) | null {
  const value = named?.trim();
  if (value) return () => value;
  return file === null ? null : () => readKeyFile(file);
}

async function readiness(baseUrl: string, signal: AbortSignal): Promise<Finding> {
  const at = (path: string) =>
    ask({ baseUrl, fetch: networkFetch, method: 'GET', path }, { timeoutMs: PATIENCE_MS, signal });
  const { host } = new URL(baseUrl);
  const health = await at('/health');
  if (health.status !== 200) {
    return failed(
      `${host} answers ${health.status} to /health`,
      'Check the address.',
      'farelock config list --show-origin',
    );
  }
  const ready = await at('/ready');
  if (ready.status === 200) return ok(`${host} is ready`);
  if (ready.status === 404) return warning(`${host} answers, and has no /ready`);
  return failed(`${host} runs, and is not ready (${ready.status})`, 'Its operator sees why in its log.');
}

/** A call without a key is refused by a partner service that runs, in its own words. */
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
    return failed(
      `${host} is no partner service`,
      'Check the address.',
      'farelock config list --show-origin',
    );
  }
}
