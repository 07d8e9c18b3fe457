import { command, option } from '../../spec/define.ts';
import { integerOption, text } from '../../spec/options.ts';

export const partnerPlatform = command({
  name: 'partner platform',
  summary: 'Serve the sandbox partner platform; FARELOCK_PARTNER_URL names the service that it updates',
  options: [
    option('--host <host>', 'address to listen on', text, '127.0.0.1'),
    option('--port <port>', 'port, 0 for any free one', integerOption('--port', 0, 65_535), 4030),
    option(
      '--partner <id>',
      'partner whose key is in FARELOCK_API_KEY or --key-file',
      text,
      'par_sandbox_bank',
    ),
    option('--key-file <file>', 'API key of that partner, instead of FARELOCK_API_KEY'),
    option('--secret-file <file>', 'webhook secret, instead of FARELOCK_WEBHOOK_SECRET'),
  ],
  effect: 'runs',
  examples: ['farelock partner platform --port 4030'],
  result: { schema: async () => (await import('./result.ts')).partnerPlatform },
  load: async () => (await import('./run.ts')).partnerPlatform,
});
