import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, isAddress } from '@solana/kit';
import { type Problem, problem } from '../kernel/problems.ts';
import type { OperatorKeys, SeenKeys } from '../payments/index.ts';
import { readOwnKeypair, type Signer } from '../solana/index.ts';
import { currentOf, type KeptKeys, type KeyDuty, keyFile, keysOf, type Owning } from '../store/index.ts';

export type SigningDuty = Exclude<KeyDuty, 'service'>;

const RETRY_S = 30;

/** The problem of a process that lacks a key which its database names. */
export const keyMissing = (file: string): Problem =>
  problem('operator_key_unusable', {
    message: `keys/${file} is missing here, or holds another key: the processes of this database rotate to it.`,
    fix: 'Copy it from the home where farelock cluster rotate made it, then start again.',
    detail: { file: `keys/${file}` },
  });

/** Lists a duty's keys that rotations made, by their files. */
export const rotatedIn = (folder: string, duty: KeyDuty): readonly string[] =>
  (existsSync(folder) ? readdirSync(folder).sort() : []).flatMap((file) => {
    const [, name = ''] = new RegExp(`^${duty}-(\\w+)[.]json$`).exec(file) ?? [];
    return name !== '' && (duty === 'service' || isAddress(name)) ? [name] : [];
  });

/**
 * Opens a duty's keys in a home. The database says which keys are alive; a key that arrives while this process runs is
 * read when it is needed. @param read reads the keys from the database again @throws Problem `operator_key_unusable`
 */
export function openDuty(
  duty: SigningDuty,
  folder: string,
  belonging: Owning,
  read: () => Promise<KeptKeys>,
  made: () => Signer,
): { readonly keys: OperatorKeys; readonly current: Signer } {
  const loaded = new Map<string, Signer>();
  const kept = keysOf(belonging, duty);
  const first = (kept[0]?.name ?? made().address) as Address;
  const fileOf = (address: Address): string => keyFile(duty, address, address === first);
  const find = (address: Address): Signer | null => {
    const path = join(folder, fileOf(address));
    const found = loaded.get(address) ?? (existsSync(path) ? readOwnKeypair(path) : null);
    if (found?.address !== address) return null;
    loaded.set(address, found);
    return found;
  };
  const signer = (address: Address): Signer => {
    const found = find(address);
    // Only the operator learns the name of its file.
    if (!found) throw problem('operator_key_unusable', { retryAfter: RETRY_S, cause: keyMissing(fileOf(address)) });
    return found;
  };
  const seenOf = (keys: KeptKeys): SeenKeys => {
    const listed = keys[duty] ?? [{ name: first, state: 'current' as const }];
    const those = (...states: string[]) =>
      listed.filter(({ state }) => states.includes(state)).map(({ name }) => name as Address);
    const unknown = rotatedIn(folder, duty).filter((file) => !listed.some(({ name }) => name === file)) as Address[];
    const all = listed.map(({ name }) => name as Address);
    return {
      all: [...all, ...unknown],
      live: [...those('current', 'old', 'next'), ...unknown],
      signing: those('current', 'old'),
    };
  };
  let seen = seenOf(belonging.keys);
  const address = (currentOf(belonging, duty)?.name ?? first) as Address;
  const current = find(address);
  if (!current) throw keyMissing(fileOf(address));
  return {
    current,
    keys: {
      first,
      seen: () => seen,
      async look() {
        seen = seenOf(await read());
        return seen;
      },
      has: (address) => (seen.live.includes(address) || !seen.all.includes(address)) && find(address) !== null,
      signer,
    },
  };
}
