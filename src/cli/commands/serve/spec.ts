import { PROVIDERS } from '../../../kernel/domain/providers.ts';
import { choiceOption, clusterOptions, collected, command, integerOption, option, text } from '../../spec/index.ts';

export const sellers = [
  ...clusterOptions,
  option('--escrow-program <address>', 'escrow program of new intents (default: the one deployed from here)'),
  option('--mainnet', 'take real USDC, where the cluster is mainnet'),
  option(
    '--provider <name>',
    'whose seats are sold: sandbox (default), duffel (token: FARELOCK_DUFFEL_TOKEN)',
    choiceOption(PROVIDERS),
  ),
  option('--duffel-url <url>', 'address of the Duffel API (default: https://api.duffel.com)'),
  option('--duffel-token-file <file>', 'a file with the token, instead of FARELOCK_DUFFEL_TOKEN'),
  option(
    '--lowcost <tier>',
    'carriers without an interface: none, sandbox, browser (default: sandbox with --provider sandbox, else none)',
    choiceOption(['none', 'sandbox', 'browser']),
  ),
] as const;

const services = [
  option('--database-url <url>', 'PostgreSQL instead of the file; with a password: FARELOCK_DATABASE_URL'),
  option('--migrate', 'bring a PostgreSQL database up to date first, as farelock db migrate does'),
  option('--accept-changes', 'apply settings that differ to every process of the database'),
  ...sellers,
  option('--facilitator-url <url>', 'an x402 facilitator to settle payments (or FARELOCK_FACILITATOR_URL)'),
  option('--scenario <name>', 'make the sandbox airline misbehave on purpose'),
  option('--metrics <host:port>', 'serve /metrics for Prometheus, on a port of its own (or FARELOCK_METRICS)'),
  option('--live', 'the partner service accepts live keys only, no demo keys (or FARELOCK_ENVIRONMENT=live)'),
] as const;

export const serve = command({
  name: 'serve',
  summary: 'Serve the flight service, the partner service and the embedded cluster (/rpc)',
  options: [
    option('--host <host>', 'address to listen on', text, '127.0.0.1'),
    option('--port <port>', 'port, 0 for any free one', integerOption(0, 65_535), 4020),
    option(
      '--trusted-proxy <address>',
      'trust X-Forwarded-* headers from this address or range; repeatable',
      collected,
    ),
    option('--public-url <url>', 'the address that customers use, behind a proxy (or FARELOCK_PUBLIC_URL)'),
    ...services,
    option(
      '--log <what>',
      'problems, or requests: a line of JSON for each request too (or FARELOCK_LOG)',
      choiceOption(['problems', 'requests']),
    ),
    option('--no-worker', 'leave bookings, refunds and deliveries to farelock worker'),
    option('--cluster-only', 'serve the embedded cluster alone, without the services'),
    option('--without-program', 'with --cluster-only: a new ledger without the escrow program'),
  ],
  effect: 'runs',
  examples: [
    'farelock serve --port 4020',
    'farelock serve --port 0 --json',
    'farelock serve --provider duffel --duffel-token-file token',
  ],
});

export const worker = command({
  name: 'worker',
  summary: 'Carry out bookings, refunds and deliveries for farelock serve --no-worker; several can run at once',
  options: services,
  effect: 'runs',
  examples: ['farelock worker', 'farelock worker --provider duffel --duffel-token-file token'],
});
