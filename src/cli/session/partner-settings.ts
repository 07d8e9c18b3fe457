import { resolve } from 'node:path';
import { problem } from '../../kernel/problems.ts';
import type { ServiceOptions } from '../../service/types.ts';
import type { Environment } from '../spec/globals.ts';

/**
 * Settings of this process' partner service from the environment: FARELOCK_ENVIRONMENT, FARELOCK_SERVICE_NAME,
 * FARELOCK_COMPLIANCE_POLICY, FARELOCK_ATTESTATION_MS, FARELOCK_PLATFORM_STEP_MS, FARELOCK_OUTBOUND_PORTS. @throws Problem `usage`
 */
export function partnerSettings(
  environment: Environment,
  live: boolean | undefined,
): Pick<ServiceOptions, 'partnerEnvironment' | 'partnerServiceName' | 'partner'> {
  const named = environment.FARELOCK_ENVIRONMENT || undefined;
  if (named !== undefined && named !== 'demo' && named !== 'live')
    throw refused('FARELOCK_ENVIRONMENT', named, 'demo or live', 'demo');
  const service = environment.FARELOCK_SERVICE_NAME || undefined;
  if (service !== undefined && !/^[a-z][a-z0-9_]{0,39}$/.test(service))
    throw refused('FARELOCK_SERVICE_NAME', service, 'a word of lower-case letters, digits and _', 'farelock');
  const attestationMs = milliseconds(environment, 'FARELOCK_ATTESTATION_MS', 2000);
  const platformStepMs = milliseconds(environment, 'FARELOCK_PLATFORM_STEP_MS', 1500);
  const ports = environment.FARELOCK_OUTBOUND_PORTS || undefined;
  if (ports !== undefined && !/^\d{1,5}(,\d{1,5})*$/.test(ports))
    throw refused('FARELOCK_OUTBOUND_PORTS', ports, 'a list of ports separated by commas', '9443');
  const policy = environment.FARELOCK_COMPLIANCE_POLICY || undefined;
  return {
    partnerEnvironment: live ? 'live' : named,
    partnerServiceName: service,
    partner: {
      ...(policy === undefined ? {} : { compliancePolicyFile: resolve(policy) }),
      ...(attestationMs === undefined ? {} : { attestationMs }),
      ...(platformStepMs === undefined ? {} : { platformStepMs }),
      ...(ports === undefined ? {} : { outboundPorts: ports.split(',').map(Number) }),
    },
  };
}

const refused = (name: string, given: string, wanted: string, example: string) =>
  problem('usage', {
    message: `${name} is not ${wanted}: ${given}.`,
    fix: `Set it to ${example}, or unset it.`,
  });

function milliseconds(environment: Environment, name: string, example: number): number | undefined {
  const given = environment[name] || undefined;
  if (given !== undefined && !/^\d{1,9}$/.test(given))
    throw refused(name, given, 'a number of milliseconds', String(example));
  return given === undefined ? undefined : Number(given);
}
