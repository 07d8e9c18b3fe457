import { parseUsdc } from '../../kernel/money.ts';
import { clusterFrom } from './cluster.ts';
import { CLUSTER_OUTSIDE, type SettingName } from './keys-table.ts';
import { keypairPath, type Profile } from './profile.ts';
import type { Settings } from './resolve.ts';

/** The profile that resolved settings make. */
export function profileFrom(settings: Settings): Profile {
  const text = (name: SettingName): string | null => settings.values.get(name)?.value ?? null;
  const amount = (name: SettingName): bigint | null => {
    const value = text(name);
    return value === null ? null : parseUsdc(value);
  };
  const hosts = text('limits.hosts');
  const keypair = text('keypair');
  const isOutside = (name: SettingName) => settings.isEmbedded && (CLUSTER_OUTSIDE as readonly string[]).includes(name);
  return {
    ...clusterFrom((name) => (isOutside(name) ? null : text(name))),
    commitment: settings.commitment,
    name: settings.profile.value,
    isEmbedded: settings.isEmbedded,
    flightsUrl: settings.isEmbedded ? null : text('flights_url'),
    partnerUrl: text('partner_url'),
    httpHosts: text('http_hosts')?.split(',') ?? [],
    keypair: keypair === null ? null : keypairPath(keypair),
    apiKeyFile: text('api_key_file'),
    customerTokenFile: text('customer_token_file'),
    operatorKeyFile: text('operator_key_file'),
    limits: {
      perCall: amount('limits.per_call'),
      perDay: amount('limits.per_day'),
      booking: amount('limits.booking'),
      // A list that nothing is left of allows nothing.
      hosts: hosts === null ? null : hosts.split(',').filter(Boolean),
    },
    isProjectsChoice: settings.profile.origin === 'project' && settings.profile.value !== 'local',
    notes: settings.notes,
  };
}
