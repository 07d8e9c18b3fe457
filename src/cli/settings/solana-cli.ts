import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { readBounded } from '../../kernel/bounded-file.ts';
import { wrongSetting } from './file.ts';
import type { Environment } from './profile.ts';
import { keypair, type Reader, webAddress } from './readers.ts';

const MOST_BYTES = 65_536;

/**
 * Reads the settings of the Solana CLI, `~/.config/solana/cli/config.yml`. Called only for a profile whose cluster is
 * `solana-config`: settings of another tool must not spend money unasked.
 * @throws Problem `settings_invalid` naming file and key
 */
export async function readSolanaCliConfig(environment: Environment) {
  const home = environment.HOME || homedir();
  const path = join(home, '.config', 'solana', 'cli', 'config.yml');
  if (!existsSync(path)) throw wrongSetting(path, 'the file', 'does not exist, but the profile needs it');
  const bytes = readBounded(path, { mostBytes: MOST_BYTES, isRegular: true });
  if (!bytes) throw wrongSetting(path, 'the file', 'is too large, or no regular file');
  const { parse } = await import('yaml');
  let config: unknown;
  try {
    config = parse(bytes.toString('utf8'), { maxAliasCount: 0 });
  } catch {
    throw wrongSetting(path, 'the file', 'is not YAML');
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw wrongSetting(path, 'the file', 'is not a table of settings');
  }
  const fields: Record<string, unknown> = { ...config };
  const text = (key: string): string | null => {
    const value = fields[key];
    if (value === undefined || value === null || value === '') return null;
    if (typeof value !== 'string') throw wrongSetting(path, key, 'must be a string');
    return value;
  };
  const read = (key: string, reader: Reader<string>, value: string): string => {
    const found = reader(value, dirname(path));
    if (found === undefined) throw wrongSetting(path, key, `is not ${reader.wanted}`);
    return found;
  };
  const url = text('json_rpc_url');
  const commitment = text('commitment') ?? 'confirmed';
  if (!/^(processed|confirmed|finalized)$/.test(commitment)) {
    throw wrongSetting(path, 'commitment', 'is not processed, confirmed or finalized');
  }
  return {
    path,
    rpcUrl: url === null ? null : read('json_rpc_url', webAddress, url),
    keypair: read('keypair_path', keypair, text('keypair_path') ?? join(home, '.config', 'solana', 'id.json')),
    /** `processed` is read as `confirmed`: nothing here trusts a block that may be dropped. */
    commitment: commitment === 'finalized' ? ('finalized' as const) : ('confirmed' as const),
  };
}
