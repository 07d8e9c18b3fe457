import { type Address, getProgramDerivedAddress, type ProgramDerivedAddress } from '@solana/kit';

const MOST_KEPT = 1_000;
const kept = new Map<string, Promise<ProgramDerivedAddress>>();

/**
 * Derives an address of a program, and keeps it: that takes slow curve arithmetic, and payments need the same few again
 * and again.
 * @param key the seeds as text
 */
export function derivedAddress(
  programAddress: Address,
  key: string,
  seeds: () => Parameters<typeof getProgramDerivedAddress>[0]['seeds'],
): Promise<ProgramDerivedAddress> {
  const name = `${programAddress} ${key}`;
  const known = kept.get(name);
  if (known) return known;
  const made = getProgramDerivedAddress({ programAddress, seeds: seeds() });
  kept.set(name, made);
  made.catch(() => kept.delete(name));
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return made;
}
