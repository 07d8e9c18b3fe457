import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProgram, type Program } from '../built.ts';
import { smtpReceiver } from './receivers.ts';
import { selfSigned } from './self-signed.ts';

/** Mails over TLS: a server whose certificate is trusted gets them, any other gets not a word of them. */

let program: Program;
let receiver: Awaited<ReturnType<typeof smtpReceiver>>;
let trusted: string;
beforeAll(async () => {
  program = await buildProgram('notify/smtp-sender.ts');
  const certificate = selfSigned();
  trusted = join(program.folder, 'cert.pem');
  writeFileSync(trusted, certificate.cert);
  receiver = await smtpReceiver(certificate);
});
afterAll(async () => {
  await receiver.close();
  program.remove();
});

const send = async (url: string, certificates = '') => {
  const env = { NODE_EXTRA_CA_CERTS: certificates };
  return (await execa(process.execPath, [program.path, url], { env })).stdout;
};

test('a certificate that nobody vouches for gets no mail, and the mail waits', async () => {
  expect(await send(receiver.url)).toMatch(/^ReceiverUnreachable: /);
  expect(receiver.mails).toEqual([]);
});

test('a certificate for another name gets none either', async () => {
  const elsewhere = receiver.url.replace('127.0.0.1', '127.0.0.2');
  expect(await send(elsewhere, trusted)).toMatch(/^ReceiverUnreachable: /);
  expect(receiver.mails).toEqual([]);
});

test('with a trusted certificate the mail is handed over, encrypted', async () => {
  expect(receiver.url).toMatch(/^smtps:/);
  expect(await send(receiver.url, trusted)).toBe('sent');
  expect(receiver.mails).toMatchObject([
    { from: 'desk@example.com', to: ['ada@example.org'], raw: expect.stringContaining('Your ticket is issued.') },
  ]);
});
