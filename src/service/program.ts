import { join } from 'node:path';
import type { Address } from '@solana/kit';
import {
  type DeploymentRecords,
  type InspectedProgram,
  loadDeploymentInspect,
  openRecords,
} from '../escrow/deployment/index.ts';
import { ESCROW_PROGRAM_ID } from '../escrow/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { isProblem, problem } from '../kernel/problems.ts';
import { farelock } from '../kernel/shell-word.ts';
import { type Cluster, decodeMint, TOKEN_PROGRAM } from '../solana/index.ts';
import type { OpenedCluster } from './cluster.ts';
import type { TakingCaps } from './types.ts';

type Reader = Pick<Cluster, 'accounts'>;
type Place = Pick<OpenedCluster, 'genesis'> & { readonly ledger: { readonly ledgerId: string } | null };

/** Opens a home's deployments on one cluster, identified by its ledger or first block. */
export function deploymentsOf(home: string, { genesis, ledger }: Place): DeploymentRecords {
  const place = ledger ? `ledger${ledger.ledgerId}` : `solana${(genesis ?? '').slice(0, 32)}`;
  return openRecords(join(home, 'keys', 'deployments'), place.replace(/\W/g, ''));
}

const inspect = async (cluster: Reader, program: Address): Promise<InspectedProgram> =>
  (await loadDeploymentInspect()).inspectProgram(cluster, program);

/** Finds the program that a home has deployed on a cluster, else the embedded cluster's. */
export async function deployedProgram(cluster: Reader, records: DeploymentRecords): Promise<Address> {
  const open = records.current();
  if (open?.kind === 'upgrade') return open.program;
  for (const { state, program } of records.ended()) {
    if (state === 'done' && (await inspect(cluster, program)).kind === 'present') return program;
  }
  return open?.program ?? ESCROW_PROGRAM_ID;
}

const DECIMALS = 6;

/**
 * Checks the USDC mint and the program (the shipped or the previous version) before a service sells.
 * @throws Problem `usdc_mint_missing`, `program_missing`, `program_differs`, `cluster_failed`
 */
export async function checkCluster(cluster: Pick<Cluster, 'accounts' | 'usdcMint'>, program: Address) {
  const { usdcMint } = cluster;
  const [[account], found] = await Promise.all([cluster.accounts([usdcMint]), inspect(cluster, program)]);
  const mint = account?.owner === TOKEN_PROGRAM ? decodeMint(account.data) : null;
  if (mint?.decimals !== DECIMALS) {
    throw problem('usdc_mint_missing', {
      message: !account
        ? `There is no mint ${usdcMint} on this cluster, which the settings name as its USDC.`
        : mint
          ? `The mint ${usdcMint} has ${mint.decimals} decimals, and USDC has ${DECIMALS}.`
          : `The account ${usdcMint}, which the settings name as the USDC of this cluster, is not a mint.`,
      next: [farelock`cluster check`],
      detail: { mint: usdcMint },
    });
  }
  if (isServed(found)) return found;
  throw programWrong(program, found);
}

/** The previous version of the program does all that intents need. */
const isServed = (found: InspectedProgram): found is Extract<InspectedProgram, { kind: 'present' }> =>
  found.kind === 'present' && (found.isShipped || found.isPrevious);

function programWrong(program: Address, found: InspectedProgram) {
  if (found.kind === 'present') {
    return problem('program_differs', {
      message: `The program at ${program} does not have the bytes of the shipped escrow program.`,
      fix: 'Bring it up to date with farelock cluster deploy, or name another one with --escrow-program.',
      charged: 'nothing',
      next: [farelock`cluster check`, farelock`cluster deploy`],
      detail: { program, upgrade_authority: found.upgradeAuthority },
    });
  }
  return problem('program_missing', {
    message:
      found.kind === 'absent'
        ? `There is no escrow program at ${program} on this cluster.`
        : `The account at ${program} is not a program.`,
    next: [farelock`cluster deploy`, farelock`cluster check`],
    detail: { program, found: found.kind },
  });
}

/** Reads the program, an account or two, at most once a minute. */
const LOOK_EVERY_MS = 60_000;

/** Watches the program of new escrows. @returns a function for its fault or null; a silent cluster changes nothing */
export function watchProgram(cluster: Reader, program: Address, clock: Pick<Clock, 'now'>) {
  let trouble: string | null = null;
  let lookedAtMs = clock.now();
  let looking: Promise<void> | null = null;
  async function look(): Promise<void> {
    try {
      const found = await inspect(cluster, program);
      trouble = isServed(found) ? null : programWrong(program, found).message;
      lookedAtMs = clock.now();
    } catch (error) {
      if (!isProblem(error, 'cluster_failed')) throw error;
    }
  }
  return async () => {
    if (Math.abs(clock.now() - lookedAtMs) < LOOK_EVERY_MS) return trouble;
    looking ??= look().finally(() => {
      looking = null;
    });
    await looking;
    return trouble;
  };
}

/** Requires real sellers, consent and caps on mainnet. @throws Problem `sandbox_on_mainnet`, `mainnet_not_confirmed` */
export function checkMainnetStart(given: {
  readonly sellers: readonly ({ readonly name: string; readonly isSandbox: boolean } | null)[];
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
  const caps = { FARELOCK_CAP_PER_BOOKING: perPayment, FARELOCK_CAP_PER_DAY: perDay };
  const missing = Object.entries(caps).flatMap(([name, cap]) => (cap === null ? [name] : []));
  if (missing.length > 0) {
    throw problem('mainnet_not_confirmed', {
      message: 'On MAINNET a service says how much real USDC it takes at most.',
      fix: `Set ${missing.join(' and ')} to an amount such as 2000. Nothing was signed.`,
    });
  }
}

/** Accepts a mainnet program that is final, or has an accepted upgrade key. @throws Problem `mainnet_not_confirmed` */
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
