import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Address } from '@solana/kit';
import { problem } from '../../kernel/problems.ts';
import { farelock } from '../../kernel/shell-word.ts';
import {
  type ClusterSettings,
  checkSettings,
  rpcNames,
  type SolanaNetwork,
  settingsOfMoniker,
} from '../../solana/index.ts';
import { readJsonFile, readProfileSettings, type SettingValues, wrongSetting } from './file.ts';
import type { Environment } from './globals.ts';
import { CLUSTER_SETTINGS, type ClusterSettingName, kindOf, NotASetting } from './keys-table.ts';
import { fromVariable } from './resolve.ts';
import { secret } from './secret-variable.ts';

/**
 * The record of a cluster, from the text of each of its settings.
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

/** A moniker as the settings that it stands for; null for a name that is none. */
function valuesOfMoniker(moniker: string): SettingValues | null {
  const known = settingsOfMoniker(moniker);
  if (known === null) return null;
  const { rpcUrls, network, genesis } = known;
  return { ...(rpcUrls && { rpc_url: rpcUrls.join(',') }), ...(network && { network }), ...(genesis && { genesis }) };
}

/** The options of a command line that name a cluster. */
export interface ClusterOptions {
  /** A moniker, or the path of a file with the settings of a cluster. */
  readonly cluster?: string;
  readonly rpcUrl?: readonly string[];
  readonly network?: string;
  readonly genesis?: string;
  readonly usdcMint?: string;
  readonly escrowProgram?: string;
}

const FLAGS: readonly (readonly [ClusterSettingName, (given: ClusterOptions) => string | undefined, string])[] = [
  ['rpc_url', ({ rpcUrl }) => rpcUrl?.join(','), '--rpc-url'],
  ['network', ({ network }) => network, '--network'],
  ['genesis', ({ genesis }) => genesis, '--genesis'],
  ['usdc_mint', ({ usdcMint }) => usdcMint, '--usdc-mint'],
  ['escrow_program', ({ escrowProgram }) => escrowProgram, '--escrow-program'],
];

/**
 * The cluster of an operator's command: flags, then the environment, then a file or a moniker.
 * @param base the settings where nothing names a cluster; the embedded one's by default
 * @throws Problem `usage`, `settings_invalid`, `cluster_settings_invalid`
 */
export function clusterGiven(
  options: ClusterOptions,
  environment: Environment,
  base: ClusterSettings | null = null,
): ClusterSettings {
  const named = options.cluster ?? (environment.FARELOCK_CLUSTER || undefined);
  const from = named === undefined ? {} : valuesNamed(named);
  const text = (name: ClusterSettingName): string | undefined =>
    fromFlag(name, options) ?? ofEnvironment(environment, name) ?? from[name];
  const isNamed = named !== undefined || text('rpc_url') !== undefined;
  const settings = clusterFrom(text);
  if (base !== null && !isNamed) {
    const program = text('escrow_program');
    return program === undefined ? base : { ...base, escrowPrograms: rpcNames(program) as Address[] };
  }
  return settings;
}

function fromFlag(name: ClusterSettingName, options: ClusterOptions): string | undefined {
  const [, read, flag] = FLAGS.find(([one]) => one === name) ?? [];
  const given = read?.(options);
  // An address that is none is the cluster's to refuse, as everywhere.
  if (given === undefined || name === 'rpc_url') return given;
  try {
    return kindOf(name).read(given, process.cwd());
  } catch (error) {
    if (!(error instanceof NotASetting)) throw error;
    throw problem('usage', {
      message: `${flag}: that is not ${error.message}.`,
      fix: `Give ${flag} ${error.message}.`,
    });
  }
}

const ofEnvironment = (environment: Environment, name: ClusterSettingName): string | undefined => {
  if (name === 'rpc_url') return secret(environment, 'FARELOCK_RPC_URL');
  const { environment: variable } = kindOf(name);
  return variable === undefined ? undefined : fromVariable(environment, variable, name);
};

function valuesNamed(named: string): SettingValues {
  const values = valuesOfMoniker(named);
  if (values !== null) return values;
  const path = resolve(named);
  if (!existsSync(path)) {
    throw problem('usage', {
      message: `"${named}" is neither a known cluster nor a file with the settings of one.`,
      fix: 'Give mainnet, devnet, testnet, localhost, embedded, or the path of a JSON file.',
      next: [farelock`help serve`],
    });
  }
  const { cluster, ...given } = readJsonFile(path, true);
  const settings = readProfileSettings(path, 'the file', given);
  const other = Object.keys(settings).find((name) => !(CLUSTER_SETTINGS as readonly string[]).includes(name));
  if (other !== undefined) throw wrongSetting(path, other, 'is not a setting of a cluster');
  if (cluster === undefined) return settings;
  const base = typeof cluster === 'string' ? valuesOfMoniker(cluster) : null;
  if (base === null) throw wrongSetting(path, 'cluster', 'is not mainnet, devnet, testnet or localhost');
  return { ...base, ...settings };
}
