import { resolve } from 'node:path';
import type { Address } from '@solana/kit';
import {
  type ClusterSettings,
  checkSettings,
  rpcNames,
  type SolanaNetwork,
  settingsOfMoniker,
} from '../../solana/index.ts';
import { readJsonFile, readProfileSettings, type SettingValues, wrongSetting } from './file.ts';
import type { Environment } from './profile.ts';
import { settingsIn } from './read.ts';
import { CLUSTER_NAMES, type ClusterSettingName } from './table.ts';

/**
 * Builds the settings of a cluster from their texts.
 * @throws Problem `cluster_settings_invalid`
 */
export function clusterFrom(text: (name: ClusterSettingName) => string | null | undefined): ClusterSettings {
  const cap = text('priority_fee_cap');
  const settings: ClusterSettings = {
    rpcUrls: rpcNames(text('rpc_url') ?? ''),
    webSocketUrl: text('ws_url') ?? null,
    commitment: text('commitment') === 'finalized' ? 'finalized' : 'confirmed',
    network: (text('network') as SolanaNetwork | undefined) ?? null,
    genesis: text('genesis') ?? null,
    usdcMint: (text('usdc_mint') as Address | undefined) ?? null,
    escrowPrograms: rpcNames(text('escrow_program') ?? '') as Address[],
    priorityFeeCap: cap ? BigInt(cap) : null,
    upgradeAuthorities: rpcNames(text('upgrade_authorities') ?? '') as Address[],
  };
  checkSettings(settings);
  return settings;
}

/** The settings of a moniker; null for any other name. */
function valuesOfMoniker(moniker: string): SettingValues | null {
  const known = settingsOfMoniker(moniker);
  if (known === null) return null;
  const { rpcUrls, network, genesis } = known;
  return { ...(rpcUrls && { rpc_url: rpcUrls.join(',') }), ...(network && { network }), ...(genesis && { genesis }) };
}

/**
 * Finds the cluster of an operator's command: flags win over the environment, both over the named file or moniker.
 * @param base the settings if no cluster is named; by default those of the embedded one
 * @throws Problem `usage`, `settings_invalid`, `cluster_settings_invalid`
 */
export function clusterGiven(
  options: { readonly rpcUrl?: readonly string[] },
  environment: Environment,
  base: ClusterSettings | null = null,
): ClusterSettings {
  // Opening the cluster refuses a wrong --rpc-url, with a code of its own.
  const { rpcUrl, ...flags } = options;
  const given = settingsIn(environment, flags);
  const named = given('served_cluster');
  const from = named === undefined ? {} : valuesNamed(named);
  const text = (name: ClusterSettingName): string | undefined =>
    (name === 'rpc_url' && rpcUrl?.join(',')) || (given(name) ?? from[name]);
  const isNamed = named !== undefined || text('rpc_url') !== undefined;
  const settings = clusterFrom(text);
  if (base !== null && !isNamed) {
    const program = text('escrow_program');
    return program === undefined ? base : { ...base, escrowPrograms: rpcNames(program) as Address[] };
  }
  return settings;
}

function valuesNamed(named: string): SettingValues {
  const values = valuesOfMoniker(named);
  if (values !== null) return values;
  const path = resolve(named);
  const { cluster, ...given } = readJsonFile(path, true);
  const settings = readProfileSettings(path, 'the file', given);
  const other = Object.keys(settings).find((name) => !(CLUSTER_NAMES as readonly string[]).includes(name));
  if (other !== undefined) throw wrongSetting(path, other, 'is not a setting of a cluster');
  if (cluster === undefined) return settings;
  const base = typeof cluster === 'string' ? valuesOfMoniker(cluster) : null;
  if (base === null) throw wrongSetting(path, 'cluster', 'is not mainnet, devnet, testnet or localhost');
  return { ...base, ...settings };
}
