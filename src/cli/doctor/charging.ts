import type { readChallenge } from '../../client/payer/challenge.ts';
import { ask, problemOf } from '../../client/transport.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { overNetwork } from '../../kernel/network.ts';
import { isProblem } from '../../kernel/problems.ts';
import { type Cluster, SOLANA_NETWORKS } from '../../solana/cluster.ts';
import { parseDate } from '../searching/dates.ts';
import { type Check, type Finding, failed, ok, type Patient, warning } from './checks.ts';
import type { OpenCluster } from './network.ts';
import { PATIENCE_MS, reaching } from './services.ts';

const OTHER_CLUSTER = [
  'Name the cluster that the service is paid on; nothing can be paid over this one.',
  'farelock config list --show-origin',
] as const;

/** Checks that the service is paid on the cluster of the profile. A price is asked for; nothing is signed, nothing paid. */
export function chargingChecks({ profile, clock }: Patient, open: OpenCluster): Check[] {
  const { flightsUrl, rpcUrls } = profile;
  if (profile.isEmbedded || flightsUrl === null || rpcUrls.length === 0) return [];
  const run = async (signal: AbortSignal): Promise<Finding> => {
    const depart_date = parseDate('+30d', clock.now());
    const body = { origin_iata: 'LIS', destination_iata: 'BER', depart_date };
    const [cluster, answer] = await Promise.all([
      open(),
      ask(
        {
          baseUrl: flightsUrl,
          fetch: overNetwork(),
          method: 'POST',
          path: '/air/search',
          body,
        },
        { timeoutMs: PATIENCE_MS, signal },
      ),
    ]);
    if (answer.status === 200) return ok('Nothing is asked for a search');
    if (answer.status !== 402) {
      const { message, fix } = problemOf(answer);
      return warning(`A search would not be sold now: ${message}`, fix);
    }
    return paidHere(answer, cluster, profile);
  };
  return [{ id: 'charging', run: (signal) => reaching(run(signal)) }];
}

/** The program of the service's escrows is not one that this profile pays into. */
async function untrusted(
  cluster: Cluster,
  program: string,
  { escrowPrograms, upgradeAuthorities }: Patient['profile'],
): Promise<Finding | null> {
  const { checkProgram, EMBEDDED_TRUST } = await import('../../client/trusted-program.ts');
  const isAccepted = (authority: string) => (upgradeAuthorities as readonly string[]).includes(authority);
  try {
    await checkProgram(cluster, program, {
      ...EMBEDDED_TRUST,
      isOwnCluster: false,
      programs: escrowPrograms,
      isAccepted,
    });
    return null;
  } catch (error) {
    if (!isProblem(error, 'program_not_trusted')) throw error;
    return failed(error.message, error.fix, ...error.next);
  }
}

async function paidHere(
  answer: Parameters<typeof readChallenge>[0],
  cluster: Cluster,
  profile: Patient['profile'],
): Promise<Finding> {
  const { network, usdcMint } = cluster;
  const name = Object.entries(SOLANA_NETWORKS).find(([, id]) => id === network)?.[0] ?? network;
  // Only where a service has asked for money; an embedded one never comes here.
  const { readChallenge } = await import('../../client/payer/challenge.ts');
  try {
    const { amount, feePayer, escrowProgram } = readChallenge(answer, {
      network,
      asset: usdcMint,
      wallet: '',
    });
    const [account] = await cluster.accounts([feePayer]);
    // Two clusters of one name (two embedded ones, a fork) are told apart by who holds money on them.
    if (!account) {
      return failed(
        `The fee payer of the service has no account on this ${name}: it is another one`,
        ...OTHER_CLUSTER,
      );
    }
    const wrong = escrowProgram === null ? null : await untrusted(cluster, escrowProgram, profile);
    if (wrong !== null) return wrong;
    return ok(`A search costs ${formatUsdc(amount)} USDC, paid on ${name}`);
  } catch (error) {
    if (!isProblem(error, 'challenge_refused')) throw error;
    return failed(`${error.message} The cluster of this profile is ${name}.`, ...OTHER_CLUSTER);
  }
}
