// Run as a process of its own by smtp-tls.test.ts, for what a process trusts is fixed when it starts: sends one mail and
// says how that ended.
import { writeSync } from 'node:fs';
import { sendSmtp } from '../../src/notify/transports.ts';

const mail = {
  envelope: { from: 'desk@example.com', to: ['ada@example.org'] },
  raw: Buffer.from('Subject: Booked\r\n\r\nYour ticket is issued.\r\n'),
};
const said = await sendSmtp(process.argv[2] ?? '', mail, AbortSignal.timeout(10_000)).then(
  () => 'sent',
  (error: Error) => `${error.name}: ${error.message}`,
);
writeSync(1, said);
process.exit(0);
