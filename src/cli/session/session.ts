import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Agreed, Allowance } from '../../client/base/index.ts';
import { loadFlights } from '../../client/index.ts';
import { type ClientStore, loadStore } from '../../client/journal/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Fetch } from '../../kernel/http.ts';
import { overNetwork } from '../../kernel/network.ts';
import { once } from '../../kernel/once.ts';
import { farelock } from '../../kernel/shell-word.ts';
import type { Streams, Terminal } from '../../terminal/index.ts';
import { type Environment, type GlobalOptions, homeOf, type Profile } from '../settings/index.ts';
import { openHere, openRemoteCluster, rpcUrlsOf } from './here.ts';
import { openPages } from './notebook.ts';
import type { PartnerIdentity } from './partner-access.ts';
import { openPaidHere, openPayer, spendingPolicy, trustOf } from './paying.ts';
import { flightsUrlOf, profileOf } from './profile-in-use.ts';
import { noSuchRow, openRecentOffers } from './recent.ts';
import { openWallet } from './wallet.ts';

interface FlightsOptions {
  /** The payment that the person has just agreed to: a booking, or one call of several. */
  readonly agreed?: Agreed;
  /** True for a client without a key: its paid calls end with what would be signed. */
  readonly plan?: true;
}

interface SessionGiven {
  readonly environment: Environment;
  readonly globals: GlobalOptions;
  readonly terminal: Terminal;
  readonly streams?: Streams;
  readonly clock: Clock;
  /** The folder where the search for a project file begins; by default the working folder. */
  readonly folder?: string | undefined;
  /** The allowance of the program that drives the tool. */
  readonly allowance?: Allowance | undefined;
  /** Replaces the profile of the settings. */
  readonly profile?: Profile;
}

const EMBEDDED_URL = 'http://farelock.local';

export type Session = Readonly<Awaited<ReturnType<typeof openSession>>>;

/**
 * Opens what commands work with: wallet, cluster, journal, services. Each part is opened once, on its first use.
 * @throws Problem `usage` for an unknown profile
 */
export async function openSession(given: SessionGiven) {
  const { environment, globals, terminal, clock } = given;
  const home = resolve(homeOf(environment));
  const profile = given.profile ?? (await profileOf(environment, globals, home, given.folder));
  for (const note of profile.notes) terminal.note(note);
  const { isEmbedded } = profile;
  const keypairFile = profile.keypair ?? join(home, 'wallet.json');

  const local = openHere(given, home, profile, () => import('../../service/index.ts'));
  const { openLocal } = local;
  const cluster = once(async () =>
    isEmbedded ? (await openLocal()).cluster : openRemoteCluster(profile, clock, terminal),
  );
  /** @throws Problem `no_wallet`, `keypair_unreadable` */
  const wallet = once(async () =>
    openWallet({
      keypairFile,
      isDefault: profile.keypair === null,
      terminal,
      clock,
      service: isEmbedded ? await openLocal() : null,
    }),
  );
  const store = once(() => openStore(home, clock));
  const trust = trustOf({ profile, home, clock, terminal });
  const paidHere = openPaidHere(store);
  const rpc = async () =>
    isEmbedded
      ? { url: `${EMBEDDED_URL}/rpc`, fetch: await transport() }
      : (await import('./rpc-door.ts')).rpcDoor(rpcUrlsOf(profile));
  const neverLanded = async (paymentId: string) =>
    (await import('./landed.ts')).hasNeverLanded({ cluster, store, rpc, profile, clock }, paymentId);
  const transport = once(async (): Promise<Fetch> => {
    if (isEmbedded) return (await embedded()).fetch;
    flightsUrlOf(profile, home);
    return overNetwork();
  });
  const baseUrl = profile.flightsUrl ?? EMBEDDED_URL;
  const reach = { baseUrl, timeoutMs: globals.timeout };
  const embedded = async () => {
    const service = await openLocal();
    const send: Fetch = (request) => service.fetch(request);
    return { fetch: send, operatorKeyFile: () => service.operatorKeyFile() };
  };
  const access = () => import('./partner-access.ts');
  const partnerGiven = { environment, profile, home, timeoutMs: globals.timeout, embedded };

  return {
    home,
    profile,
    isEmbedded,
    /** The address of the flight service. */
    baseUrl,
    keypairFile,
    ...numbersOf(home, given),
    /** The escrow programs that this profile pays into. */
    trust,
    ...local.doors,
    cluster,
    wallet,
    store,
    paidHere,
    /** The fetch to the flight service. @throws Problem `usage` for a profile without one */
    transport,
    flights: async (options: FlightsOptions = {}) => {
      const { createFlightsClient } = await loadFlights();
      const payer = openPayer({
        ...{ signer: wallet, cluster, store, clock, profile, neverLanded, trust, warn: terminal.note },
        policy: spendingPolicy({ ...given, agreed: options.agreed }, profile),
        noted: paidHere.note,
        isDryRun: globals.dryRun === true || options.plan === true,
        hasWallet: () => keypairFile === '-' || existsSync(keypairFile),
      });
      return createFlightsClient({ ...reach, fetch: await transport(), payer, clock });
    },
    /** The operator API. @throws Problem `no_operator_key` */
    operator: async () => (await access()).openOperator(partnerGiven, { baseUrl, fetch: await transport() }),
    /** The partner service, as one partner and for one customer. */
    partner: async (who: PartnerIdentity = {}) => (await access()).openPartner(partnerGiven, who),
    /** The operator's desk of the partner service. @throws Problem `no_operator_key` */
    partnerDesk: async () => (await access()).openPartnerDesk(partnerGiven),
    /** The cluster's JSON-RPC, for web3.js. */
    rpc,
    /** True if the chain shows that a payment of the journal did not land and never will. */
    neverLanded,
    /** Does what is due on an embedded stack. Returns when the next step is due (epoch ms), or null. */
    async work(part?: 'partner') {
      if (!isEmbedded) return null;
      return (await (await openLocal()).worker.runDue(part)).nextDueAtMs;
    },
    /** The last problem with a file of the embedded services, naming the file; null if there was none. */
    trouble: async () => (await openLocal.opened())?.trouble() ?? null,
    async close() {
      await store.opened()?.then((opened) => opened.shut());
      await local.close();
      if (!isEmbedded) await cluster.opened()?.then((opened) => opened.close());
    },
  };
}

async function openStore(home: string, clock: Clock): Promise<ClientStore> {
  const [{ openClientStore }, { openSecrets }, { randomIds }] = await Promise.all([
    loadStore(),
    import('../../kernel/secrets.ts'),
    import('../../kernel/ids.ts'),
  ]);
  return openClientStore({
    path: join(home, 'client.db'),
    secrets: openSecrets(join(home, 'keys', 'client.json')),
    clock,
    ids: randomIds(clock.now),
  });
}

/** The lists of this terminal that numbers on a command line refer to. */
const numbersOf = (home: string, { terminal: { note }, streams }: SessionGiven) => ({
  recentOffers: openRecentOffers(join(home, 'recent-offers.json'), note, streams?.place),
  recentCases: openRecentCases(join(home, 'recent-refunds.json'), note, streams?.place),
  /** Set once the intent of the command line is known (`paying/meant.ts`). */
  meant: { intentId: null as string | null },
});

/** The numbers of the refund queue as each terminal was last shown it. */
function openRecentCases(path: string, warn: (text: string) => void, place?: string) {
  const pages = openPages<{ readonly listed: readonly string[] }>(path, warn, place);
  return {
    remember: (listed: readonly string[]) => void pages.write({ listed }),
    /** Returns an id as it is, and the case of a number. @throws Problem `refund_request_not_found`, `usage` */
    resolve(idOrNumber: string): string {
      if (!/^\d{1,3}$/.test(idOrNumber)) return idOrNumber;
      const id = pages.own()?.listed?.[Number(idOrNumber) - 1];
      if (id !== undefined) return id;
      throw noSuchRow(pages, 'refund_request_not_found', idOrNumber, {
        fix: 'List the queue again, or give the request id.',
        next: [farelock`refund queue`],
      });
    },
  };
}
