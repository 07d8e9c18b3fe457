import { command, durationOption, integerOption, option, text } from '../../spec/index.ts';

export const sandboxDuffel = command({
  name: 'sandbox duffel',
  summary: 'Serve a sandbox of the Duffel flights API, to develop and test against',
  options: [
    option('--host <host>', 'address to listen on', text, '127.0.0.1'),
    option('--port <port>', 'port, 0 for any free one', integerOption(0, 65_535), 4040),
    option('--webhook-url <url>', 'where order updates go, instead of POST /air/webhooks'),
    option('--webhook-secret-file <file>', 'secret that signs those messages'),
  ],
  effect: 'runs',
  examples: ['farelock sandbox duffel --port 4040'],
});

export const sandboxCarrierSite = command({
  name: 'sandbox carrier-site',
  summary: "Serve a pretend carrier's web site, to develop browser recipes against",
  options: [
    option('--host <host>', 'address to listen on', text, '127.0.0.1'),
    option('--port <port>', 'port, 0 for any free one', integerOption(0, 65_535), 4050),
    option('--scenario <name>', 'make every visit misbehave on purpose'),
    option('--mail-folder <folder>', 'Maildir for the confirmation mails; without it none is sent'),
    option('--mail-after <time>', 'delay between a sale and its mail', durationOption, 300),
    option('--slow <time>', 'how long slow pages take', durationOption, 3000),
  ],
  effect: 'runs',
  examples: ['farelock sandbox carrier-site --port 4050 --mail-folder carrier-mail'],
});

export const sandboxPlatform = command({
  name: 'sandbox platform',
  summary: 'Serve the sandbox partner platform; FARELOCK_PARTNER_URL names the service that it updates',
  options: [
    option('--host <host>', 'address to listen on', text, '127.0.0.1'),
    option('--port <port>', 'port, 0 for any free one', integerOption(0, 65_535), 4030),
    option('--partner <id>', 'partner whose key is in FARELOCK_API_KEY or --key-file', text, 'par_sandbox_bank'),
    option('--key-file <file>', 'API key of that partner, instead of FARELOCK_API_KEY'),
    option('--secret-file <file>', 'webhook secret, instead of FARELOCK_WEBHOOK_SECRET'),
  ],
  effect: 'runs',
  examples: ['farelock sandbox platform --port 4030'],
});
