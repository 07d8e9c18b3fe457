import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { randomIds } from '../../src/kernel/ids.ts';
import { jsonLog } from '../../src/kernel/log.ts';
import { openSecrets } from '../../src/kernel/secrets.ts';
import type { MailMessage, Message, NotifySettings, PageMessage, Transports } from '../../src/notify/message.ts';
import { checkSettings } from '../../src/notify/message.ts';
import { createOutbox } from '../../src/notify/outbox.ts';
import { createTransports } from '../../src/notify/transports.ts';
import { openStore, type Store } from '../../src/service/home.ts';
import { manualClock } from '../clock.ts';
import { proofTest } from '../proof-only.ts';
import { migratedFile } from '../service/migrated.ts';
import { smtpReceiver, webhookReceiver } from './receivers.ts';

const HOUR_MS = 3_600_000;
const PAGE: PageMessage = {
  kind: 'page',
  dedupKey: 'page:1',
  intentId: 'int_1',
  event: 'refund_requested',
  text: 'Refund requested for int_1.',
  fields: { intent_id: 'int_1', amount: '151.20' },
};
const MAIL: MailMessage = {
  kind: 'email',
  dedupKey: 'mail:1',
  intentId: 'int_1',
  to: { name: 'Ada Lovelace', address: 'ada@example.org' },
  subject: 'Booked: LIS to BER',
  text: 'Hello Ada,\n\nyour ticket is issued.\n',
  attachments: [{ filename: 'journey.ics', contentType: 'text/calendar', content: 'BEGIN:VCALENDAR\r\n' }],
};

let home: string;
let store: Store;
let log: string[];
const clock = manualClock();
const ends: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'farelock-notify-'));
  store = await openStore(await migratedFile(home));
  log = [];
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await store.destroy();
  rmSync(home, { recursive: true, force: true });
});

const outboxOver = (transports: Transports) =>
  createOutbox({
    store,
    secrets: openSecrets(join(home, 'keys.json')),
    clock,
    ids: randomIds(clock.now),
    log: jsonLog((line) => log.push(line), clock.now, 'debug'),
    transports: async () => transports,
  });
const outbox = (settings: NotifySettings = {}) => outboxOver(createTransports(home, settings));
const write = (box: ReturnType<typeof outbox>, ...messages: Message[]) =>
  store.transaction().execute(async (tx) => {
    for (const message of messages) await box.enqueue(tx, message);
  });
const rows = () => store.selectFrom('outbox').selectAll().orderBy('message_id').execute();

/** As `serve` does: round after round while the clock goes on. */
async function pass(box: ReturnType<typeof outbox>, ms: number, everyMs = 30_000) {
  for (let passed = 0; passed < ms; passed += everyMs) {
    clock.advance(everyMs);
    await box.deliverDue();
  }
}
async function receivers() {
  const [smtp, webhook] = [await smtpReceiver(), await webhookReceiver()];
  ends.push(smtp.close, webhook.close);
  const settings = { smtpUrl: smtp.url, mailFrom: 'Desk <desk@example.com>', pageUrl: `${webhook.url}/hook` };
  return { smtp, webhook, settings, box: outbox(settings) };
}

test('a page and a mail survive their receivers being down for an hour, and arrive once', async () => {
  const { smtp, webhook, box } = await receivers();
  smtp.state.behaviour = 'down';
  webhook.state.behaviour = 'down';
  await write(box, PAGE, MAIL);
  await pass(box, HOUR_MS);
  expect(smtp.mails).toEqual([]);
  expect(webhook.pages).toEqual([]);
  smtp.state.behaviour = 'up';
  webhook.state.behaviour = 'up';
  await pass(box, 6 * 60_000);
  await pass(box, HOUR_MS);
  expect(smtp.mails).toHaveLength(1);
  expect(smtp.mails[0]).toMatchObject({ from: 'desk@example.com', to: ['ada@example.org'] });
  expect(webhook.pages).toHaveLength(1);
  expect((await rows()).map((row) => row.state)).toEqual(['sent', 'sent']);
});

test('a receiver that is down is asked seldomer and seldomer, at least every five minutes', async () => {
  const { webhook, box } = await receivers();
  webhook.state.behaviour = 'down';
  await write(box, PAGE);
  await pass(box, HOUR_MS, 1000);
  // Every second would be 3600 tries; every five minutes at the latest, after a few quick ones.
  expect(webhook.state.tries).toBeGreaterThan(12);
  expect(webhook.state.tries).toBeLessThan(50);
});

test('a full outbox does not wait for a dead receiver once per message', async () => {
  const { webhook, smtp, box } = await receivers();
  webhook.state.behaviour = 'down';
  await write(box, ...Array.from({ length: 20 }, (_, n) => ({ ...PAGE, dedupKey: `page:${n}` })), MAIL);
  await box.deliverDue();
  expect(webhook.state.tries).toBe(1);
  expect(smtp.mails).toHaveLength(1);
});

test('a message exists exactly when the change that it reports does', async () => {
  const box = outbox();
  const failing = store.transaction().execute(async (tx) => {
    await box.enqueue(tx, PAGE);
    throw new Error('the change failed');
  });
  await expect(failing).rejects.toThrow('the change failed');
  expect(await rows()).toEqual([]);
});

test('one happening is told once, however often its step runs', async () => {
  const box = outbox();
  await write(box, PAGE, PAGE);
  await box.deliverDue();
  await write(box, PAGE);
  await box.deliverDue();
  expect(
    readFileSync(join(home, 'outbox', 'pages.ndjson'), 'utf8')
      .trim()
      .split('\n'),
  ).toHaveLength(1);
});

test('a happening that its receiver has heard of is not sent there again', async () => {
  const { webhook, box } = await receivers();
  await write(box, PAGE);
  await box.deliverDue();
  await write(box, PAGE);
  await pass(box, HOUR_MS);
  expect(webhook.state.tries).toBe(1);
});

test('a lost answer leads to a second try under the same id, in body, header and Message-ID', async () => {
  const { smtp, webhook, box } = await receivers();
  smtp.state.behaviour = 'lost_answer';
  webhook.state.behaviour = 'lost_answer';
  await write(box, PAGE, MAIL);
  await box.deliverDue();
  smtp.state.behaviour = 'up';
  webhook.state.behaviour = 'up';
  await pass(box, 60_000);
  expect(webhook.pages).toHaveLength(2);
  expect(new Set(webhook.pages.flatMap(({ key, body }) => [key, body.id])).size).toBe(1);
  expect(smtp.mails).toHaveLength(2);
  const ids = smtp.mails.map(({ raw }) => /^Message-ID: (<.+>)/im.exec(raw)?.[1]);
  expect(ids[0]).toMatch(/^<msg_\w+@example\.com>$/);
  expect(new Set(ids).size).toBe(1);
  const dates = smtp.mails.map(({ raw }) => /^Date: .+$/im.exec(raw)?.[0]);
  expect(new Set(dates).size).toBe(1);
});

test('a process that dies between the send and the mark is overtaken, with the same id', async () => {
  const seen: string[] = [];
  const dying = outboxOver({
    page: (_message, delivery) => {
      seen.push(delivery.id);
      return new Promise(() => undefined);
    },
    mail: async () => undefined,
    forget: async () => undefined,
  });
  await write(dying, PAGE);
  void dying.deliverDue();
  await expect.poll(() => seen.length).toBe(1);
  const next = outbox();
  await next.deliverDue();
  expect((await rows())[0]?.state).toBe('sending');
  clock.advance(61_000);
  await next.deliverDue();
  const line = JSON.parse(readFileSync(join(home, 'outbox', 'pages.ndjson'), 'utf8')) as { id: string };
  expect(line.id).toBe(seen[0]);
  expect((await rows())[0]?.state).toBe('sent');
});

test('a process that was overtaken gives away no message that another is sending', async () => {
  const failing: ((error: Error) => void)[] = [];
  const standing = () =>
    outboxOver({
      page: () => new Promise((_sent, failed) => failing.push(failed)),
      mail: async () => undefined,
      forget: async () => undefined,
    });
  const slow = standing();
  await write(slow, PAGE);
  const slowRound = slow.deliverDue();
  await expect.poll(() => failing.length).toBe(1);
  clock.advance(61_000);
  void standing().deliverDue();
  await expect.poll(() => failing.length).toBe(2);
  const before = await rows();
  failing[0]?.(new Error('no answer'));
  await slowRound;
  expect(await rows()).toEqual(before);
  expect(await outbox().deliverDue()).toEqual({ sent: 0, failed: 0 });
});

test('a line that was written before a crash is not written again', async () => {
  const files = createTransports(home);
  let dies = true;
  const box = outboxOver({
    ...files,
    async page(message, delivery, signal) {
      await files.page(message, delivery, signal);
      if (dies) throw new Error('died before the mark');
    },
  });
  await write(box, PAGE);
  await box.deliverDue();
  dies = false;
  await pass(box, 60_000);
  expect(
    readFileSync(join(home, 'outbox', 'pages.ndjson'), 'utf8')
      .trim()
      .split('\n'),
  ).toHaveLength(1);
});

test('of several deliverers at once each message is sent by one', async () => {
  const { smtp, webhook, settings, box } = await receivers();
  const messages = Array.from({ length: 12 }, (_, n): Message[] => [
    { ...PAGE, dedupKey: `page:${n}` },
    { ...MAIL, dedupKey: `mail:${n}` },
  ]).flat();
  await write(box, ...messages);
  await Promise.all([box, outbox(settings), outbox(settings)].map((one) => one.deliverDue()));
  expect(webhook.pages).toHaveLength(12);
  expect(smtp.mails).toHaveLength(12);
  expect(new Set(webhook.pages.map(({ key }) => key)).size).toBe(12);
});

test('a lease that was written before the clock was set back does not hold a message for long', async () => {
  const box = outbox();
  await write(box, PAGE);
  await store
    .updateTable('outbox')
    .set({ lease_until_ms: clock.now() + 48 * HOUR_MS })
    .execute();
  await box.deliverDue();
  expect((await rows())[0]?.state).toBe('sent');
});

test('a message that nobody takes for a week waits for a person', async () => {
  const { webhook, box } = await receivers();
  webhook.state.behaviour = 'refusing';
  await write(box, PAGE);
  await pass(box, 6 * 24 * HOUR_MS, HOUR_MS);
  expect((await rows())[0]?.state).toBe('queued');
  await pass(box, 2 * 24 * HOUR_MS, HOUR_MS);
  expect((await rows())[0]).toMatchObject({ state: 'failed', last_error: 'DeliveryRefused' });
  expect(log.some((line) => line.includes('message_given_up'))).toBe(true);
});

test('a mail that its server refuses does not hold up the next one', async () => {
  const { smtp, box } = await receivers();
  await write(box, { ...MAIL, to: { name: '', address: 'a@b, c@example.org' } }, { ...MAIL, dedupKey: 'mail:2' });
  await box.deliverDue();
  expect(smtp.mails.map(({ to }) => to)).toEqual([['ada@example.org']]);
});

proofTest('a mail whose server asks to come back later is tried as often as where there is no server', async () => {
  const { smtp, box } = await receivers();
  smtp.state.behaviour = 'busy';
  await write(box, MAIL);
  await pass(box, 8 * 3_600_000, 300_000);
  expect(smtp.state.connections).toBeGreaterThan(90);
  smtp.state.behaviour = 'up';
  await pass(box, 300_000, 300_000);
  expect(smtp.mails).toHaveLength(1);
});

test('nothing personal is on the disk in clear or in the log, and what was sent is emptied', async () => {
  const { smtp, box } = await receivers();
  smtp.state.behaviour = 'refusing';
  await write(box, MAIL);
  await box.deliverDue();
  const bytes = () =>
    readdirSync(home)
      .map((file) => (statSync(join(home, file)).isFile() ? readFileSync(join(home, file), 'latin1') : ''))
      .join('');
  expect(bytes()).not.toMatch(/Lovelace|ada@example|ticket is issued/);
  smtp.state.behaviour = 'up';
  await pass(box, 7 * HOUR_MS, HOUR_MS);
  expect(await rows()).toMatchObject([{ state: 'sent', payload_sealed: '' }]);
  expect(log.join('\n')).not.toMatch(/Lovelace|ada@|127\.0\.0\.1/);
});

test('without settings a mail is a private file named by its id, whole', async () => {
  const box = outbox();
  await write(box, MAIL);
  await box.deliverDue();
  const folder = join(home, 'outbox', 'mail');
  const [name = '', ...others] = readdirSync(folder);
  expect(others).toEqual([]);
  expect(name).toMatch(/^msg_\w+\.eml$/);
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const mail = readFileSync(join(folder, name), 'utf8');
  expect(mail).toContain('To: Ada Lovelace <ada@example.org>');
  expect(mail).toContain('your ticket is issued.');
  expect(mail).toMatch(/Content-Type: text\/calendar[\s\S]*journey\.ics/);
});

test('no name or subject can add a header or a recipient', async () => {
  const { smtp, box } = await receivers();
  await write(box, {
    ...MAIL,
    to: { name: 'Ada"\r\nBcc: eve@example.org', address: 'ada@example.org' },
    subject: 'Hello\r\nBcc: eve@example.org\r\n\r\nbody',
  });
  await box.deliverDue();
  const [mail] = smtp.mails;
  expect(mail?.to).toEqual(['ada@example.org']);
  const head = mail?.raw.split('\r\n\r\n')[0]?.replace(/\r\n[ \t]+/g, ' ') ?? '';
  expect(head).not.toMatch(/^bcc:/im);
  expect(head).toMatch(/^Subject: Hello Bcc: eve@example\.org body$/m);
});

test('the webhook gets text for people and fields for programs', async () => {
  const { webhook, box } = await receivers();
  await write(box, PAGE);
  await box.deliverDue();
  expect(webhook.pages[0]).toMatchObject({
    path: '/hook',
    body: {
      text: 'Refund requested for int_1.',
      event: 'refund_requested',
      fields: { intent_id: 'int_1', amount: '151.20' },
      at: expect.stringMatching(/Z$/),
    },
  });
});

test('a redirect is not followed', async () => {
  const { webhook, box } = await receivers();
  webhook.state.behaviour = 'redirecting';
  await write(box, PAGE);
  expect(await box.deliverDue()).toEqual({ sent: 0, failed: 1 });
  expect(webhook.state.tries).toBe(1);
});

test('Telegram gets the page in its chat', async () => {
  const webhook = await webhookReceiver();
  ends.push(webhook.close);
  const box = outbox({ telegramToken: '12:ab-C', telegramChat: '-77', telegramOrigin: webhook.url });
  await write(box, PAGE);
  await box.deliverDue();
  expect(webhook.pages[0]).toMatchObject({
    path: '/bot12:ab-C/sendMessage',
    body: { chat_id: '-77', text: 'Refund requested for int_1.\nintent_id: int_1\namount: 151.20' },
  });
  expect(log.join()).not.toContain('ab-C');
});

test('settings that cannot work are refused, and not repeated', () => {
  const wrong: NotifySettings[] = [
    { pageUrl: 'http://example.org/s3cret' },
    { pageUrl: 'file:///s3cret' },
    { smtpUrl: 'https://s3cret', mailFrom: 'a@example.org' },
    { smtpUrl: 'smtp://user:s3cret@localhost' },
    { mailFrom: 's3cret' },
    { telegramToken: '1:s3cret' },
    { telegramToken: 's3cret/../x', telegramChat: '1' },
  ];
  for (const settings of wrong) {
    expect(() => checkSettings(settings)).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(() => checkSettings(settings)).not.toThrow(/s3cret/);
  }
  checkSettings({
    pageUrl: 'https://example.org/x',
    smtpUrl: 'smtps://u:p@example.org',
    mailFrom: 'A <a@example.org>',
  });
  checkSettings({ pageUrl: 'http://127.0.0.1:9/x' });
});

test('what was written about an intent can be forgotten: rows, mails in files, and what still waits', async () => {
  const box = outbox();
  await write(box, MAIL);
  await box.deliverDue();
  await write(box, { ...MAIL, dedupKey: 'mail:later' }, { ...MAIL, dedupKey: 'other', intentId: 'int_2' });
  await box.forget('int_1');
  await box.forget('int_1');
  expect(readdirSync(join(home, 'outbox', 'mail'))).toEqual([]);
  const after = await rows();
  expect(after.filter((row) => row.intent_id === 'int_1').map((row) => row.payload_sealed)).toEqual(['', '']);
  expect(after.find((row) => row.dedup_key === 'mail:later')?.state).toBe('failed');
  await box.deliverDue();
  expect(readdirSync(join(home, 'outbox', 'mail'))).toHaveLength(1);
});
