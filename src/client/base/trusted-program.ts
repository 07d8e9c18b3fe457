import { isAddress } from '@solana/kit';
import { loadDeploymentInspect } from '../../escrow/deployment/index.ts';
import { type AccountReader, ESCROW_PROGRAM_ID } from '../../escrow/index.ts';
import { problem } from '../../kernel/problems.ts';
import { farelock, lineOf, type NextStep } from '../../kernel/shell-word.ts';

export interface ProgramTrust {
  /** True for this home's own cluster, whose program no key can replace. */
  readonly isOwnCluster: boolean;
  readonly programs: readonly string[];
  /** True for a key trusted not to replace a program. */
  isAccepted(authority: string): boolean;
  /** Asks a person to trust the key, and remembers a yes. Null if no person can be asked. */
  readonly accept: ((program: string, authority: string) => Promise<boolean>) | null;
  acceptCommand(authority: string): NextStep;
}

export const EMBEDDED_TRUST: ProgramTrust = {
  isOwnCluster: true,
  programs: [],
  isAccepted: () => false,
  accept: null,
  acceptCommand: (authority) => farelock`config set upgrade_authorities ${authority}`,
};

export type ProgramStanding =
  | { readonly kind: 'named' | 'final' | 'absent' | 'different'; readonly authority: null }
  /** The shipped bytes, under a key that can replace them. */
  | { readonly kind: 'accepted' | 'upgradeable'; readonly authority: string };

/** True for a program trusted by name. On other clusters, our address may have other bytes. */
const isNamed = (program: string, { isOwnCluster, programs }: ProgramTrust): boolean =>
  (isOwnCluster && program === ESCROW_PROGRAM_ID) || programs.includes(program);

/** Compares a program's bytes with those that this version or the last shipped. */
export async function standingOfProgram(
  cluster: AccountReader,
  program: string,
  trust: ProgramTrust,
): Promise<ProgramStanding> {
  if (isNamed(program, trust)) return { kind: 'named', authority: null };
  if (!isAddress(program)) return { kind: 'absent', authority: null };
  const { inspectProgram } = await loadDeploymentInspect();
  const found = await inspectProgram(cluster, program);
  if (found.kind !== 'present') return { kind: 'absent', authority: null };
  if (!found.isShipped && !found.isPrevious) return { kind: 'different', authority: null };
  const { upgradeAuthority: authority } = found;
  if (authority === null) return { kind: 'final', authority };
  return { kind: trust.isAccepted(authority) ? 'accepted' : 'upgradeable', authority };
}

export const isTrusted = ({ kind }: ProgramStanding): boolean =>
  kind === 'named' || kind === 'final' || kind === 'accepted';

/**
 * Refuses escrow programs that could do anything with the money. @throws Problem `program_not_trusted`,
 * `cluster_failed`
 */
export async function checkProgram(
  cluster: AccountReader,
  program: string,
  trust: ProgramTrust,
): Promise<ProgramStanding> {
  const standing = await standingOfProgram(cluster, program, trust);
  if (isTrusted(standing)) return standing;
  const { kind, authority } = standing;
  if (kind === 'upgradeable') {
    if (await trust.accept?.(program, authority)) return { kind: 'accepted', authority };
    const command = trust.acceptCommand(authority);
    throw problem('program_not_trusted', {
      message: `The escrow program ${program} is the shipped one, but ${authority} can replace it at any time.`,
      fix: `If you know whose key that is and trust it, accept it once: ${lineOf(command)}.`,
      charged: 'nothing',
      next: [command],
      detail: { program, upgrade_authority: authority, reason: kind },
    });
  }
  throw problem('program_not_trusted', {
    message:
      kind === 'absent'
        ? `The service names the escrow program ${program}, and there is no program at that address.`
        : `The escrow program ${program} is not the shipped one: what it does with money is unknown.`,
    fix: 'If you know that program, name it: farelock config set escrow_program <address>.',
    charged: 'nothing',
    detail: { program, upgrade_authority: null, reason: kind },
  });
}
