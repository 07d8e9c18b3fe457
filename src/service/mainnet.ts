import type { Address } from '@solana/kit';
import { problem } from '../kernel/problems.ts';
import { farelock } from '../kernel/shell-word.ts';
import type { InspectedProgram, TakingCaps } from './types.ts';

/** Anything that sells journeys: one that is invented must not be sold for real money. */
interface Seller {
  readonly name: string;
  readonly isSandbox: boolean;
}

/**
 * What a service has to be before it takes real USDC, as far as it is known before a key is made.
 * @throws Problem `sandbox_on_mainnet`, `mainnet_not_confirmed`
 */
export function checkMainnetStart(given: {
  readonly sellers: readonly (Seller | null)[];
  readonly isMeant: boolean;
  readonly caps: TakingCaps | undefined;
}): void {
  const invented = given.sellers.find((one) => one?.isSandbox);
  if (invented || given.sellers.every((one) => one === null)) {
    throw problem('sandbox_on_mainnet', { next: [farelock`serve`] });
  }
  if (!given.isMeant) {
    throw problem('mainnet_not_confirmed', {
      fix: 'Add --mainnet if that is what you want. Nothing was signed.',
      next: [farelock`serve --mainnet`],
    });
  }
  const { perPayment = null, perDay = null } = given.caps ?? {};
  const missing = [
    ...(perPayment === null ? ['FARELOCK_CAP_PER_BOOKING'] : []),
    ...(perDay === null ? ['FARELOCK_CAP_PER_DAY'] : []),
  ];
  if (missing.length > 0) {
    throw problem('mainnet_not_confirmed', {
      message: 'On MAINNET a service says how much real USDC it takes at most.',
      fix: `Set ${missing.join(' and ')} to an amount such as 2000. Nothing was signed.`,
    });
  }
}

/**
 * On mainnet nobody can replace the program, or only a key that the operator has accepted by name.
 * @throws Problem `mainnet_not_confirmed`
 */
export function checkMainnetProgram(
  found: Extract<InspectedProgram, { kind: 'present' }>,
  accepted: readonly Address[],
): void {
  const { upgradeAuthority } = found;
  if (upgradeAuthority === null || accepted.includes(upgradeAuthority)) return;
  throw problem('mainnet_not_confirmed', {
    message: `${upgradeAuthority} can replace the escrow program on MAINNET at any time.`,
    fix: 'Give that right up with farelock cluster deploy --final, or accept the key by name in FARELOCK_UPGRADE_AUTHORITIES.',
    next: [farelock`cluster deploy --mainnet --final`],
  });
}
