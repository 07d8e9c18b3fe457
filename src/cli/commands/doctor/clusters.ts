import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Address } from '@solana/kit';
import { ask, isRecord, loadTrustedProgram, problemOf } from '../../../client/base/index.ts';
import { loadClientInspect } from '../../../client/index.ts';
import { loadChallenge, type readChallenge } from '../../../client/payer/index.ts';
import { escrowElf } from '../../../escrow/index.ts';
import { type Clock, DAY_MS, instant } from '../../../kernel/clock.ts';
import { formatSol, formatUsdc } from '../../../kernel/money.ts';
import { overNetwork } from '../../../kernel/network.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import { shownUrl } from '../../../kernel/shown-url.ts';
import { type LedgerReading, loadEmbeddedInspect } from '../../../solana/embedded/index.ts';
import {
  type Cluster,
  DEVNET_USDC,
  GENESIS_HASHES,
  loadKeypair,
  loadToken,
  nameOf,
  networkOfGenesis,
  supportOf,
} from '../../../solana/index.ts';
import { counted } from '../../../terminal/index.ts';
import { type Check, type Finding, failed, findingOf, ok, type Patient, skewOf, warning } from './checks.ts';
import { PATIENCE_MS, reaching } from './reachable.ts';

const SLOT_TRIES = 5;
const SLOT_PAUSE_MS = 500;

/** The cluster of the profile, opened once for all checks. */
export type OpenCluster = () => Promise<Cluster>;

/** Checks the embedded ledger or the remote cluster, and compares the clocks. */
export function clusterChecks({ home, profile, clock }: Patient, open: OpenCluster): Check[] {
  if (profile.isEmbedded) {
    return [
      { id: 'cluster', run: () => embeddedLedger(home, clock) },
      { id: 'clock', run: () => embeddedClock(join(home, 'ledger.db'), clock) },
    ];
  }
  const { rpcUrls, flightsUrl } = profile;
  return [
    {
      id: 'cluster',
      run: async (signal) =>
        rpcUrls.length === 0
          ? warning(
              'No cluster is named: nothing can be paid or checked on chain',
              'Name one.',
              `farelock config set rpc_url devnet --profile ${profile.name}`,
            )
          : remoteCluster(rpcUrls, await open(), clock, signal),
    },
    {
      id: 'clock',
      run: async (signal) => {
        const times = await Promise.allSettled([
          ...(flightsUrl === null ? [] : [serviceTime('the flight service', flightsUrl, signal)]),
          ...(rpcUrls.length === 0 ? [] : [open().then(clusterTime)]),
        ]);
        return skew(
          times.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
          clock,
        );
      },
    },
  ];
}

/** Compares the ledger with the services' own database. */
async function embeddedLedger(home: string, clock: Clock): Promise<Finding> {
  const [{ readLedger }, { belongingIn, whyLedgerLost }] = await Promise.all([
    loadEmbeddedInspect(),
    loadClientInspect(),
  ]);
  const path = join(home, 'ledger.db');
  const known = belongingIn(join(home, 'service.db'));
  const why = (ledger: LedgerReading | null) => known && whyLedgerLost(known, ledger);
  const found = readLedger(path, clock, (ledger) => ({
    said: `Embedded ledger at slot ${ledger.time.slot}, ${counted(ledger.transactions, 'transaction')}`,
    lost: why(ledger),
  }));
  const lost = found === null ? why(null) : found.lost;
  if (lost !== null) {
    return failed(
      `${path} is not the ledger that this home has used: ${lost}`,
      'Restore it from a backup together with its -wal file. It only holds play money: to start over, move the whole home away.',
      `mv ${home} ${home}.lost`,
    );
  }
  return ok(found?.said ?? 'Embedded ledger: the first command creates it');
}

async function embeddedClock(path: string, clock: Clock): Promise<Finding> {
  const { readLedger } = await loadEmbeddedInspect();
  const unixTime = readLedger(path, clock, ({ time }) => time.unixTime);
  return unixTime === null ? ok('No ledger to compare with yet') : skew([{ who: 'the ledger', unixTime }], clock);
}

async function remoteCluster(
  rpcUrls: readonly string[],
  cluster: Cluster,
  clock: Clock,
  signal: AbortSignal,
): Promise<Finding> {
  const host = rpcUrls.map(hostOf).join(' and ');
  const [rpcUrl = ''] = rpcUrls;
  const name = nameOf(cluster.network);
  const moniker = { 'mainnet-beta': 'mainnet', m: 'mainnet', d: 'devnet', t: 'testnet' }[rpcUrl] ?? rpcUrl;
  const named = GENESIS_HASHES[moniker as keyof typeof GENESIS_HASHES];
  if (named !== undefined && networkOfGenesis(named) !== cluster.network) {
    return failed(`${shownUrl(rpcUrl)} answers with the first block of ${name}`, 'Use another address for it.');
  }
  const silent = await silentAmong(rpcUrls, signal);
  if (silent.length > 0) {
    return warning(
      `${name} at ${host}: no good answer from ${silent.join(' and ')}`,
      'The others are asked in its place. Name another address where it stays so.',
      'farelock config list --show-origin',
    );
  }
  const { state, version, node } = await supportOf(escrowElf(), cluster);
  if (state !== 'active') {
    return warning(
      `${name} at ${host} deploys no programs of SBPF version ${version}${state === 'pending' ? ' before its next epoch' : ''}${node === null ? '' : `: its node runs ${node}`}`,
      'An escrow program that is there goes on; for a new one use a cluster of Agave 4 or later.',
      'farelock cluster check',
    );
  }
  const first = await cluster.blockHeight();
  for (let tries = 0; tries < SLOT_TRIES; tries++) {
    await clock.sleep(SLOT_PAUSE_MS, signal);
    const now = await cluster.blockHeight();
    if (now > first) return ok(`${name} at ${host}, block ${now}`);
  }
  return failed(
    `${name} at ${host} is stuck at block ${first}`,
    'Payments would expire before they land: wait, or name another address.',
  );
}

/** The hosts among several that are away, behind or broken now. */
async function silentAmong(rpcUrls: readonly string[], signal: AbortSignal): Promise<string[]> {
  if (rpcUrls.length < 2) return [];
  const healthy = await Promise.allSettled(
    rpcUrls.map(async (url) => {
      const answer = await overNetwork('follow')({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getHealth', params: [] }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
      });
      if (answer.status !== 200 || !/"result"\s*:\s*"ok"/.test(answer.body ?? '')) throw problem('cluster_failed');
    }),
  );
  return rpcUrls.filter((_, place) => healthy[place]?.status === 'rejected').map(hostOf);
}

/** The path or the query of an RPC address may contain a key. */
const hostOf = (rpcUrl: string) => (URL.canParse(rpcUrl) ? new URL(rpcUrl).host : shownUrl(rpcUrl));

const clusterTime = async (cluster: Cluster) => ({ who: 'the cluster', unixTime: await cluster.unixTime() });

/** Reads the time in the health report, or else the answer's Date header. */
async function serviceTime(who: string, baseUrl: string, signal: AbortSignal) {
  const answer = await ask(
    { baseUrl, fetch: overNetwork(), method: 'GET', path: '/health' },
    { timeoutMs: PATIENCE_MS, signal },
  );
  const reported = isRecord(answer.body) ? Date.parse(String(answer.body.time)) : Number.NaN;
  const ms = Number.isNaN(reported) ? Date.parse(answer.headers.date ?? '') : reported;
  if (Number.isNaN(ms)) throw problem('unexpected_answer');
  return { who, unixTime: Math.floor(ms / 1000) };
}

function skew(times: readonly { who: string; unixTime: number }[], clock: Clock): Finding {
  const now = Math.floor(clock.now() / 1000);
  const off = times.map(({ who, unixTime }) => ({ who, seconds: now - unixTime }));
  const [worst] = off.toSorted((a, b) => Math.abs(b.seconds) - Math.abs(a.seconds));
  if (worst === undefined) return warning('No clock to compare with');
  const finding = skewOf(worst.who, worst.seconds);
  return finding.status === 'ok' ? ok(`In step with ${times.map(({ who }) => who).join(' and ')}`) : finding;
}

const OTHER_CLUSTER = [
  'Name the cluster that the service is paid on; nothing can be paid over this one.',
  'farelock config list --show-origin',
] as const;

/** Checks that the service takes payments on the profile's cluster. Asks for a price; signs and pays nothing. */
export function chargingChecks({ profile, clock }: Patient, open: OpenCluster): Check[] {
  const { flightsUrl, rpcUrls } = profile;
  if (profile.isEmbedded || flightsUrl === null || rpcUrls.length === 0) return [];
  const run = async (signal: AbortSignal): Promise<Finding> => {
    const depart_date = instant(clock.now() + 30 * DAY_MS).slice(0, 10);
    const body = { origin_iata: 'LIS', destination_iata: 'BER', depart_date };
    const [cluster, answer] = await Promise.all([
      open(),
      ask(
        { baseUrl: flightsUrl, fetch: overNetwork(), method: 'POST', path: '/air/search', body },
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

async function paidHere(
  answer: Parameters<typeof readChallenge>[0],
  cluster: Cluster,
  { escrowPrograms: programs, upgradeAuthorities }: Patient['profile'],
): Promise<Finding> {
  const { network, usdcMint } = cluster;
  const name = nameOf(network);
  // Loaded only after a service has asked for money.
  const { readChallenge } = await loadChallenge();
  try {
    const { amount, feePayer, escrowProgram } = readChallenge(answer, { network, asset: usdcMint, wallet: '' });
    const [account] = await cluster.accounts([feePayer]);
    // Accounts tell two clusters of one name (two embedded ones, a fork) apart.
    if (!account) {
      return failed(`The fee payer of the service has no account on this ${name}: it is another one`, ...OTHER_CLUSTER);
    }
    if (escrowProgram !== null) {
      const { checkProgram, EMBEDDED_TRUST } = await loadTrustedProgram();
      const isAccepted = (authority: string) => (upgradeAuthorities as readonly string[]).includes(authority);
      await checkProgram(cluster, escrowProgram, { ...EMBEDDED_TRUST, isOwnCluster: false, programs, isAccepted });
    }
    return ok(`A search costs ${formatUsdc(amount)} USDC, paid on ${name}`);
  } catch (error) {
    if (isProblem(error, 'program_not_trusted')) return findingOf(error);
    if (!isProblem(error, 'challenge_refused')) throw error;
    return failed(`${error.message} The cluster of this profile is ${name}.`, ...OTHER_CLUSTER);
  }
}

/** Enough for a few searches and intents; with less, the doctor warns. */
const LOW_USDC = 1_000_000n;

export const walletChecks = (patient: Patient, open: OpenCluster): Check[] => {
  const path = patient.profile.keypair ?? join(patient.home, 'wallet.json');
  return [
    { id: 'wallet', run: () => keypair(patient, path) },
    { id: 'balance', run: () => balance(patient, path, open) },
  ];
};

async function keypair({ profile }: Patient, path: string): Promise<Finding> {
  if (path === '-') return ok('Read from standard input, by the commands that sign');
  if (!existsSync(path)) {
    return profile.isEmbedded && profile.keypair === null
      ? warning('No wallet yet', 'The first paid command creates one, with play money.', 'farelock wallet show')
      : failed(`No wallet at ${path}`, 'Create one, or use another.', 'farelock wallet new');
  }
  const { readKeypair } = await loadKeypair();
  return ok(`${readKeypair(path).address} in ${path}`);
}

async function balance(patient: Patient, path: string, open: OpenCluster): Promise<Finding> {
  if (path === '-' || !existsSync(path)) return ok('No wallet to check');
  const { readKeypair } = await loadKeypair();
  const { address } = readKeypair(path);
  const { associatedTokenAddress } = await loadToken();
  if (patient.profile.isEmbedded) {
    const { readLedger } = await loadEmbeddedInspect();
    const tokenAccount = await associatedTokenAddress(address, DEVNET_USDC);
    const held = readLedger(join(patient.home, 'ledger.db'), patient.clock, (ledger) => ({
      lamports: ledger.lamports(address),
      usdc: ledger.tokens(tokenAccount),
    }));
    return held === null ? ok('No ledger yet') : holds(held, address, true);
  }
  if (patient.profile.rpcUrls.length === 0) return ok('No cluster to ask');
  const cluster = await open();
  const tokenAccount = await associatedTokenAddress(address, cluster.usdcMint);
  const [[account], usdc] = await Promise.all([cluster.accounts([address]), cluster.tokenBalance(tokenAccount)]);
  return holds({ lamports: account?.lamports ?? null, usdc }, address, false);
}

function holds(
  { lamports, usdc }: { lamports: bigint | null; usdc: bigint | null },
  address: Address,
  isPlayMoney: boolean,
): Finding {
  const said = `${usdc === null ? 'No USDC account' : `${formatUsdc(usdc)} USDC`}, ${formatSol(lamports ?? 0n)} SOL`;
  if ((usdc ?? 0n) >= LOW_USDC) return ok(said);
  return isPlayMoney
    ? warning(said, 'Get play money.', 'farelock wallet airdrop')
    : warning(said, `Send USDC to ${address}, or get play money if the cluster has any.`, 'farelock wallet airdrop');
}
