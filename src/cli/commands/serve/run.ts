import { headerOf } from '../../../kernel/http.ts';
import { jsonLog } from '../../../kernel/log.ts';
import { quoted } from '../../../kernel/shell-word.ts';
import { shownUrl } from '../../../kernel/shown-url.ts';
import { rpcNames } from '../../../solana/monikers.ts';
import { scenarioNamed } from '../../session/scenarios.ts';
import { secret } from '../../session/secret-variable.ts';
import type { Command, CommandContext } from '../../spec/command.ts';
import { fieldLines } from '../../view/table.ts';
import { proxiesIn, trustedProxies } from './client-address.ts';
import { httpServer } from './http-server.ts';
import { drainable, listening, STOPPING } from './listening.ts';
import { checkedPublicUrl, publicUrlBehind } from './public-url.ts';
import { work } from './work.ts';

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl?: string;
  /** Addresses of one cluster. */
  readonly rpcUrl?: readonly string[];
  readonly facilitatorUrl?: string;
  /** Where customers reach it: behind a proxy, or under a name. */
  readonly publicUrl?: string;
  readonly scenario?: string;
  readonly live?: boolean;
  /** Addresses and CIDR ranges. */
  readonly trustedProxy?: readonly string[];
}

interface Listening {
  readonly flights_url: string;
  readonly partner_url: string;
  readonly rpc_url: string;
  readonly rpc_urls: readonly string[];
  readonly network: string;
  readonly operator_key_file: string | null;
}

/** Serves until it is told to stop; then takes no new work, finishes what runs, and exits 0. */
export const serve: Command<ServeOptions> = async (context, options) => {
  const { terminal, session, signal, environment } = context;
  warnOfSecrets(context, options);
  const proxies = await trustedProxies(
    options.trustedProxy ?? proxiesIn(environment.FARELOCK_TRUSTED_PROXIES),
  );
  const publicUrl = publicUrlBehind({
    configured: checkedPublicUrl(options.publicUrl ?? (environment.FARELOCK_PUBLIC_URL || undefined)),
    isTrusted: proxies.areAt,
    host: options.host,
  });
  const rpcUrls = rpcNames((options.rpcUrl ?? [secret(environment, 'FARELOCK_RPC_URL') ?? '']).join(','));
  const service = await session.openLocal({
    ...(options.scenario !== undefined && { scenario: scenarioNamed(options.scenario) }),
    databaseUrl: options.databaseUrl,
    rpcUrls: rpcUrls.length > 0 ? rpcUrls : undefined,
    facilitatorUrl: options.facilitatorUrl,
    live: options.live,
    // What an operator should see; --verbose shows more.
    log: jsonLog((line) => terminal.note(line), context.clock.now, 'warn'),
  });
  let closing = false;
  let wake = new AbortController();
  const server = httpServer(async (request, { socket }) => {
    const { headers } = request;
    const answer = await service.fetch(request, {
      clientAddress: proxies.clientOf(socket.remoteAddress, headerOf(request, 'x-forwarded-for')),
      publicUrl: publicUrl({ headers, socket }),
    });
    // What was posted may have given the worker something to do: a booking starts now, not with the next round.
    if (
      answer.status < 300 &&
      /\/air\/book$|\.Service\/(SubmitCustomerData|CreateOrder)$/.test(new URL(request.url).pathname)
    )
      wake.abort();
    return answer;
  }).listen(options.port, options.host);
  const drain = drainable(server);
  const origin = await listening(server, options);
  // Who reads a demo partner's key does so once the address is told.
  await service.partnerReady();
  const where: Listening = {
    flights_url: origin,
    partner_url: origin,
    rpc_url: shownUrl(rpcUrls[0] ?? `${origin}/rpc`),
    rpc_urls: rpcUrls.length > 0 ? rpcUrls.map(shownUrl) : [`${origin}/rpc`],
    network: service.cluster.network,
    operator_key_file: await service.operatorKeyFile(),
  };
  terminal.result(where, {
    lines: (shown, { paint }) => [
      `${paint.good('✓')} Listening on ${paint.bold(shown.flights_url)}`,
      ...fieldLines(
        [
          ['Partner service', shown.partner_url],
          ['Solana RPC', shown.rpc_urls.join(', ')],
          ['Network', shown.network],
          ['Home', session.home],
          ['Operator key', shown.operator_key_file],
        ],
        paint.dim,
      ),
    ],
  });
  terminal.aside([
    '',
    'From another terminal, with a home of its own:',
    `  export FARELOCK_FLIGHTS_URL=${quoted(origin)}`,
    rpcUrls.every((one) => shownUrl(one) === one)
      ? `  export FARELOCK_RPC_URL=${quoted(where.rpc_urls.join(','))}`
      : '  export FARELOCK_RPC_URL_FILE=<a file with the address of the cluster>',
    '  farelock wallet new && farelock wallet airdrop',
    'Ctrl-C stops.',
  ]);

  const napSignal = () => {
    if (wake.signal.aborted) wake = new AbortController();
    return AbortSignal.any([signal, wake.signal]);
  };
  const working = work(context, service.worker, napSignal, () => closing);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  closing = true;
  terminal.note(STOPPING);
  await drain();
  await working;
  terminal.note('Stopped. The next farelock serve finishes what is already paid for.');
  return 0;
};

const CAN_HOLD_A_KEY = [
  ['databaseUrl', '--database-url', 'FARELOCK_DATABASE_URL'],
  ['rpcUrl', '--rpc-url', 'FARELOCK_RPC_URL'],
  ['facilitatorUrl', '--facilitator-url', 'FARELOCK_FACILITATOR_URL'],
] as const;

/** A key on the command line is used, and said to stand where every process of the machine can read it. */
function warnOfSecrets({ terminal }: CommandContext, options: ServeOptions): void {
  for (const [name, option, variable] of CAN_HOLD_A_KEY) {
    const given = [options[name] ?? []].flat().flatMap((one) => (name === 'rpcUrl' ? rpcNames(one) : [one]));
    if (given.every((one) => shownUrl(one) === one)) continue;
    terminal.note(
      `${option} holds a key: others on this machine can read it in the list of processes. Give it in ${variable}, or in a file that ${variable}_FILE names.`,
    );
  }
}
