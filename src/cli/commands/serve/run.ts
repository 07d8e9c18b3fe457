import type { Socket } from 'node:net';
import { systemClock } from '../../../kernel/clock.ts';
import { type HttpHeaders, type HttpRequest, type HttpResponse, headerOf } from '../../../kernel/http.ts';
import { jsonLog, type Log } from '../../../kernel/log.ts';
import { clientNetwork } from '../../../kernel/network.ts';
import { once } from '../../../kernel/once.ts';
import { problem } from '../../../kernel/problems.ts';
import { quoted } from '../../../kernel/shell-word.ts';
import { shownUrl, withoutAddressKeys } from '../../../kernel/shown-url.ts';
import { storageTrouble } from '../../../kernel/storage.ts';
import { type ClusterSettings, EMBEDDED_CLUSTER, nameOf, networkOfGenesis, rpcNames } from '../../../solana/index.ts';
import { fieldLines, type View } from '../../../terminal/index.ts';
import { clusterGiven, keyInArgument, settingsIn } from '../../settings/index.ts';
import type { CommandContext, OptionsOf, Run } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import { airlineSettings, soldFrom } from './airline-settings.ts';
import { crossOrigin, trustedProxies } from './callers.ts';
import { aborted, drainable, httpServer, STOPPING } from './index.ts';
import { watchLoad } from './load.ts';
import { watchRequests } from './requests.ts';
import type * as result from './result.ts';
import type * as spec from './spec.ts';
import { meterOf, startMetrics, startTraces } from './watching.ts';
import { listenForBoth, webSockets } from './web-sockets.ts';

type ServeOptions = OptionsOf<typeof spec.serve>;
type WorkerOptions = OptionsOf<typeof spec.worker>;

type Listening = DocumentOf<typeof result.serve>;

/** Serves until a signal to stop; then takes no new work, finishes running work, and exits 0. */
export const serve: Run<typeof spec.serve> = async (context, options) => {
  const { terminal, session, signal, environment } = context;
  warnOfSecrets(context, options);
  const setting = settingsIn(environment, options);
  const proxies = await trustedProxies(setting('trusted_proxies') ?? []);
  const publicUrl = publicUrlBehind(setting('public_url'), proxies.areAt, options.host);
  const { clusterOnly } = options;
  checkClusterOnly(options);
  const cluster = clusterOnly ? EMBEDDED_CLUSTER : clusterGiven(options, environment);
  const { rpcUrls } = cluster;
  // Warnings for an operator; --verbose logs more.
  const log = jsonLog((line) => terminal.note(line), context.clock.now, 'warn');
  const airlines = clusterOnly ? undefined : airlineSettings(environment, options);
  const { withoutProgram, mainnet, live } = options;
  const metrics = await startMetrics(setting('metrics'), setting('database_url') === undefined);
  const traces = await startTraces(environment, log);
  const meter = meterOf(metrics, traces);
  const service = await (clusterOnly
    ? session.openClusterOnly({ log, withoutProgram })
    : session.openLocal({
        flags: options,
        airlines,
        cluster,
        isMainnetMeant: mainnet,
        live,
        log,
        meter,
        stopping: signal,
        ...toldOf(options),
      }));
  const balancer = watchBalancer();
  const worker = startWorker(context, service.worker, { isIdle: !options.worker || clusterOnly === true });
  const requests = watchRequests({
    meter: metrics.meter,
    traces,
    log: setting('log') === 'requests' ? jsonLog((line) => terminal.note(line), context.clock.now) : null,
  });
  const load = watchLoad({
    most: setting('most_requests') ?? 500,
    inFlight: requests.inFlight,
    shed: (why) => metrics.meter('shed', { why }),
  });
  const answered = answering({ service, load, worker, hasAgents: !clusterOnly });
  const server = httpServer(async (request, { socket }) => {
    const { headers } = request;
    const { pathname } = new URL(request.url);
    const connection = {
      clientAddress: proxies.clientOf(socket.remoteAddress, headerOf(request, 'x-forwarded-for')),
      publicUrl: publicUrl({ headers, socket }),
    };
    const answer = await requests.answered(request, proxies.areAt(socket.remoteAddress), (watched) =>
      crossOrigin(watched, () => answered(watched, connection)),
    );
    if (pathname === '/ready') balancer.asked(signal.aborted && answer.status === 503);
    return answer;
  }, notAnswered(log));
  const drain = drainable(server);
  const subscriptions =
    service.pubSub &&
    webSockets(service.pubSub, ({ socket, headers }) => {
      const forwarded = headers['x-forwarded-for'];
      return clientNetwork(proxies.clientOf(socket.remoteAddress, forwarded ? String(forwarded) : null) ?? '');
    });
  const { origin, stopSecond } = await listenForBoth(context, server, subscriptions, options);
  // Makes the key files of the demo partners before the address is printed.
  await service.partnerReady();
  const where: Listening = {
    flights_url: clusterOnly ? null : origin,
    partner_url: clusterOnly ? null : origin,
    rpc_url: shownUrl(rpcUrls[0] ?? `${origin}/rpc`),
    rpc_urls: rpcUrls.length > 0 ? rpcUrls.map(shownUrl) : [`${origin}/rpc`],
    metrics_url: await metrics.listen(service, () => [
      { name: 'farelock_http_requests_in_flight', labels: {}, value: requests.inFlight() },
    ]),
    rpc_ws_url: subscriptions ? `${origin.replace(/^http/, 'ws')}/rpc` : null,
    network: service.cluster.network,
    genesis: service.servedGenesis ?? cluster.genesis,
    operator_key_file: clusterOnly ? null : await service.operatorKeyFile(),
    airline: clusterOnly ? null : soldFrom(airlines),
  };
  terminal.result(where, listeningView(origin, session.home));
  terminal.aside(hintsFor(origin, where, { ...cluster, genesis: where.genesis }));

  worker.start();
  await aborted(signal);
  const worked = worker.stop();
  terminal.note(STOPPING);
  await Promise.all([drain(balancer.heard()), subscriptions?.close(), stopSecond()]);
  await worked;
  await Promise.all([metrics.stop(), traces?.stop()]);
  terminal.note(clusterOnly ? 'Stopped.' : 'Stopped. The next farelock serve finishes what is already paid for.');
  return 0;
};

const toldOf = ({ migrate, acceptChanges }: Pick<ServeOptions, 'migrate' | 'acceptChanges'>) => ({
  migrating: { isTold: migrate === true },
  acceptsChanges: acceptChanges === true,
});

/** Works until a signal to stop, beside any number of other workers. */
export const worker: Run<typeof spec.worker> = async (context, options) => {
  const { terminal, session, signal, environment } = context;
  warnOfSecrets(context, options);
  const cluster = clusterGiven(options, environment);
  const airlines = airlineSettings(environment, options);
  const log = jsonLog((line) => terminal.note(line), context.clock.now, 'warn');
  const { mainnet, live } = options;
  const setting = settingsIn(environment, options);
  const metrics = await startMetrics(setting('metrics'), setting('database_url') === undefined);
  const traces = await startTraces(environment, log);
  const meter = meterOf(metrics, traces);
  const service = await session.openLocal({
    ...{ flags: options, airlines, cluster, isMainnetMeant: mainnet, live, log, meter, stopping: signal },
    ...toldOf(options),
  });
  const { network } = service.cluster;
  const metrics_url = await metrics.listen(service);
  terminal.result({ network, metrics_url, airline: soldFrom(airlines) }, workingView);
  const working = startWorker(context, service.worker);
  working.start();
  await aborted(signal);
  terminal.note(STOPPING);
  await working.stop();
  await Promise.all([metrics.stop(), traces?.stop()]);
  terminal.note('Stopped. The next worker finishes what is already paid for.');
  return 0;
};

type WorkOf = Awaited<ReturnType<CommandContext['session']['openLocal']>>['worker'];

/** Runs the loop of a worker. An idle process does no work: it wakes other processes for what it took in. */
function startWorker(context: CommandContext, of: WorkOf, { isIdle = false } = {}) {
  let closing = false;
  let wake = new AbortController();
  let working: Promise<void> = Promise.resolve();
  const nap = () => {
    if (wake.signal.aborted) wake = new AbortController();
    return AbortSignal.any([context.signal, wake.signal]);
  };
  return {
    start(): void {
      if (isIdle) return;
      of.onWake(() => wake.abort());
      working = work(context, of, nap, () => closing);
    },
    /** Begins new work now, not with the next round. */
    hasWork(): void {
      if (isIdle) of.wakeOthers();
      else wake.abort();
    },
    stop(): Promise<void> {
      closing = true;
      return working;
    },
  };
}

interface Answering {
  readonly service: { fetch(request: HttpRequest, connection: Reached): Promise<HttpResponse> };
  readonly load: ReturnType<typeof watchLoad>;
  readonly worker: ReturnType<typeof startWorker>;
  readonly hasAgents: boolean;
}
interface Reached {
  readonly clientAddress?: string | undefined;
  readonly publicUrl: string;
}

/** Answers with the service; at /mcp it turns an agent's request into a request to the service. */
function answering({ service, load, worker, hasAgents }: Answering) {
  const agents = once(async () => (await import('./mcp.ts')).sellToAgents(load.refusal));
  return async (request: HttpRequest, connection: Reached): Promise<HttpResponse> => {
    const ask = async (asked: HttpRequest): Promise<HttpResponse> => {
      const answer = await service.fetch(asked, connection);
      if (answer.status < 300 && GIVES_WORK.test(new URL(asked.url).pathname)) worker.hasWork();
      return answer;
    };
    if (hasAgents && new URL(request.url).pathname === '/mcp')
      return (await agents())(request, ask, connection.publicUrl);
    return load.refusal(request) ?? ask(request);
  };
}

const GIVES_WORK = /\/air\/book$|\/webhooks\/airline$|\.Service\/(SubmitCustomerData|CreateOrder)$/;

const notAnswered = (log: Log) => (error: unknown) =>
  log('error', 'request_failed', {
    error_name: error instanceof Error ? error.name : 'unknown',
    error_code: (error as NodeJS.ErrnoException).code ?? null,
  });

/** Time for a balancer to hear from /ready that this server stops, before its port closes. */
const HEARD_MS = 3_000;

/** Tracks calls of /ready: a stop waits only if a balancer makes them. */
function watchBalancer() {
  let isThere = false;
  const heard = new AbortController();
  return {
    asked(hasHeard: boolean): void {
      isThere = true;
      if (hasHeard) heard.abort();
    },
    heard: async (): Promise<void> => {
      if (isThere) await systemClock.sleep(HEARD_MS, heard.signal);
    },
  };
}

const workingView: View<DocumentOf<typeof result.worker>> = {
  lines: ({ network, airline }, { paint }) => [
    `${paint.good('✓')} Working for ${airline.provider} on ${network}. Ctrl-C stops.`,
  ],
};

const listeningView = (origin: string, home: string): View<Listening> => ({
  lines: ({ airline, ...shown }, { paint }) => [
    `${paint.good('✓')} Listening on ${paint.bold(origin)}`,
    ...fieldLines(paint.dim, {
      'Sells from': airline && `${airline.provider}, ${airline.mode} mode · low-cost carriers: ${airline.lowcost}`,
      'Partner service': shown.partner_url,
      'Solana RPC': shown.rpc_urls.join(', '),
      Subscriptions: shown.rpc_ws_url,
      Network: shown.network,
      Genesis: shown.genesis,
      Home: home,
      'Operator key': shown.operator_key_file,
      Metrics: shown.metrics_url,
    }),
  ],
});

/** @throws Problem `usage` for options that do not go together */
function checkClusterOnly({ clusterOnly, withoutProgram, ...options }: ServeOptions): void {
  if (withoutProgram && !clusterOnly) {
    throw problem('usage', {
      message: '--without-program goes with --cluster-only.',
      fix: 'Services need the program: give --cluster-only too, or leave --without-program out.',
    });
  }
  const of = {
    '--cluster': options.cluster,
    '--rpc-url': options.rpcUrl,
    '--escrow-program': options.escrowProgram,
    '--database-url': options.databaseUrl,
    '--migrate': options.migrate,
    '--accept-changes': options.acceptChanges,
    '--live': options.live,
    '--provider': options.provider,
    '--lowcost': options.lowcost,
  };
  const [other] = Object.entries(of).find(([, given]) => given !== undefined) ?? [];
  if (clusterOnly && other !== undefined) {
    throw problem('usage', {
      message: `${other} is an option of the services, and --cluster-only serves none.`,
      fix: `Leave out ${other}, or --cluster-only.`,
    });
  }
}

function hintsFor(origin: string, { flights_url, rpc_urls }: Listening, cluster: ClusterSettings): string[] {
  return [
    '',
    'From another terminal, with a separate home:',
    ...(flights_url === null ? [] : [`  export FARELOCK_FLIGHTS_URL=${quoted(origin)}`]),
    cluster.rpcUrls.every((one) => shownUrl(one) === one)
      ? `  export FARELOCK_RPC_URL=${quoted(rpc_urls.join(','))}`
      : '  export FARELOCK_RPC_URL_FILE=<a file with the address of the cluster>',
    ...namesOf(cluster),
    flights_url === null ? '  farelock cluster keys' : '  farelock wallet new && farelock wallet airdrop',
    'Ctrl-C stops.',
  ];
}

/** The settings that a client needs for a cluster that is not public. */
const namesOf = ({ genesis, network, usdcMint }: ClusterSettings): string[] => [
  ...(genesis === null || networkOfGenesis(genesis)
    ? []
    : [`  export FARELOCK_NETWORK=${network === null ? 'devnet' : nameOf(network)} FARELOCK_GENESIS=${genesis}`]),
  ...(usdcMint === null ? [] : [`  export FARELOCK_USDC_MINT=${usdcMint}`]),
];

/** Warns that other processes can read keys on the command line, but uses them. */
function warnOfSecrets({ terminal }: CommandContext, options: ServeOptions | WorkerOptions): void {
  const given = {
    database_url: [options.databaseUrl ?? []].flat(),
    rpc_url: (options.rpcUrl ?? []).flatMap(rpcNames),
    facilitator_url: [options.facilitatorUrl ?? []].flat(),
  };
  for (const name of ['database_url', 'rpc_url', 'facilitator_url'] as const) {
    if (given[name].some((one) => shownUrl(one) !== one)) terminal.note(keyInArgument(name));
  }
}

/** Pauses between looks for new work: if other processes announce work, a look is only the safety net. */
const LOOK_MS = { alone: 1_000, woken: 10_000 };
const AGAIN_MS = 1_000;

/** A longer round waits for a cluster or an airline: the next round starts beside it. */
const SLOW_ROUND_MS = 1000;

/** An airline may take two minutes for an order: this many rounds can wait at once. */
const MOST_ROUNDS = 12;

/** The worker's loop: does due work, then sleeps until more is due. */
export async function work(
  { terminal, clock }: CommandContext,
  worker: { runDue(): Promise<{ nextDueAtMs: number | null }>; isWoken?(): boolean },
  napSignal: () => AbortSignal,
  isClosing: () => boolean,
): Promise<void> {
  const running = new Set<Promise<number>>();
  /** @returns milliseconds until more is due */
  const round = async (): Promise<number> => {
    try {
      const { nextDueAtMs } = await worker.runDue();
      return nextDueAtMs === null ? Number.POSITIVE_INFINITY : nextDueAtMs - clock.now();
    } catch (error) {
      // One bad round must not end the loop: leases run out, and the next round takes the work up again.
      terminal.note(
        `The worker failed and continues: ${withoutAddressKeys(messageOf(storageTrouble(error) ?? error))}`,
      );
      return AGAIN_MS;
    }
  };
  while (!isClosing()) {
    // Taken before the round, so that work posted during it cuts the nap short.
    const nap = napSignal();
    const begun = round();
    running.add(begun);
    void begun.then(() => running.delete(begun));
    const inTime = new AbortController();
    const slow = clock.sleep(SLOW_ROUND_MS, inTime.signal).then(() => 0);
    const untilDue = await Promise.race([begun, ...(running.size < MOST_ROUNDS ? [slow] : running)]);
    inTime.abort();
    const mostMs = worker.isWoken?.() ? LOOK_MS.woken : LOOK_MS.alone;
    if (!isClosing()) await clock.sleep(Math.min(mostMs, Math.max(20, untilDue)), nap);
  }
  await Promise.all(running);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * The address at which a service is reached, for a challenge's `resource.url`, the host that a gateway signs and the
 * servers of /openapi.json. It is `configured` if that is set, or else the address that a trusted proxy names.
 * Without a proxy, the Host header counts only if it names this server, since a client writes it as it likes; if it
 * does not, the address is the one at which the connection came in.
 * @param listenHost the host that the server listens on, as given
 */
function publicUrlBehind(
  configured: string | undefined,
  isTrusted: (connection: string | undefined) => boolean,
  listenHost: string,
): (request: { headers: HttpHeaders; socket: Pick<Socket, 'remoteAddress' | 'localAddress' | 'localPort'> }) => string {
  if (configured !== undefined) return () => configured;
  return ({ headers, socket }) => {
    const own = `http://${bracketed(plain(socket.localAddress) ?? listenHost)}:${socket.localPort ?? 80}`;
    const { host } = headers;
    if (isTrusted(socket.remoteAddress)) {
      const scheme = last(headers['x-forwarded-proto'])?.toLowerCase() === 'https' ? 'https' : 'http';
      return originOf(scheme, last(headers['x-forwarded-host']) ?? host) ?? own;
    }
    const asked = originOf('http', host);
    const names = [listenHost, ...(isLoopback(socket.localAddress) ? LOOPBACK_NAMES : [])];
    const known = names.map((name) => originOf('http', `${bracketed(name)}:${socket.localPort ?? 80}`));
    return asked !== null && known.includes(asked) ? asked : (originOf('http', own.slice(7)) ?? own);
  };
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1'];
const plain = (address: string | undefined): string | undefined => address?.replace(/^::ffff:(?=\d+\.)/i, '');
const isLoopback = (address: string | undefined): boolean => /^(127\.|::1$)/.test(plain(address) ?? '');

const bracketed = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);

/** The last of a list: the nearest proxy wrote it. */
const last = (header: string | undefined): string | undefined => header?.split(',').at(-1)?.trim() || undefined;

/** An origin in its usual form; null where the text is no host. */
function originOf(scheme: 'http' | 'https', host: string | undefined): string | null {
  if (host === undefined || !/^[\w.-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i.test(host)) return null;
  return URL.canParse(`${scheme}://${host}`) ? new URL(`${scheme}://${host}`).origin : null;
}
