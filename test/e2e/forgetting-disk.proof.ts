import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openSecrets } from '../../src/kernel/secrets.ts';
import type { Intent } from '../../src/wire/flights/index.ts';
import { sentSignature } from '../solana/lying-rpc.ts';
import { farelockIn, PASSENGER } from './farelock.ts';
import { faultLibrary } from './fault.ts';
import { type ForgettingDisk, forgettingDisk } from './forgetting-disk.ts';
import { isRefundable, openStage, ran } from './stage.ts';

/**
 * Real processes on disks that lose what nobody has waited for: whatever leaves a computer was on its disk before, and
 * whatever somebody was told is there after a failure of the power.
 */

const folder = mkdtempSync(join(tmpdir(), 'farelock-forgets-'));
const library = faultLibrary(folder);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface PaymentRow {
  readonly payment_id: string;
  readonly payload_sealed: string;
}

/** Somebody between the tool and the service, who looks at the tool's disk as each payment passes. */
async function openLookout(target: () => string, look: (payment: string) => void) {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const payment = incoming.headers['payment-signature'];
    if (typeof payment === 'string') look(payment);
    const headers = Object.entries(incoming.headers).filter(
      ([name]) => !['host', 'connection', 'content-length', 'transfer-encoding'].includes(name),
    ) as [string, string][];
    const body = Buffer.concat(chunks);
    const answer = await fetch(`${target()}${incoming.url}`, {
      ...{ method: incoming.method ?? 'GET', headers },
      ...(body.length > 0 && { body }),
    });
    const said = Buffer.from(await answer.arrayBuffer());
    const given = Object.fromEntries(
      [...answer.headers].filter(
        ([name]) => !['content-encoding', 'transfer-encoding', 'content-length'].includes(name),
      ),
    );
    outgoing.writeHead(answer.status, given).end(said);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe.runIf(library !== null)('a disk that forgets', () => {
  test('has every payment before it leaves, every transaction before it is sent, and what was told after the power failed', async () => {
    const disks: ForgettingDisk[] = [];
    const stage = await openStage(20, (runner) => {
      const disk = forgettingDisk(library ?? '', runner.home);
      disks.push(disk);
      Object.assign(runner.env, disk.env);
    });
    const [serviceDisk, clientDisk] = disks as [ForgettingDisk, ForgettingDisk];
    const paid: boolean[] = [];
    const sent: boolean[] = [];
    const lookout = await openLookout(stage.flightsUrl, (payment) => {
      const secrets = openSecrets(join(stage.traveller.home, 'keys', 'client.json'));
      const rows = clientDisk.rows<PaymentRow>('client.db', 'select payment_id, payload_sealed from payments');
      paid.push(
        rows.some(
          ({ payment_id: id, payload_sealed: sealed }) =>
            secrets.decrypt(`payments.payload_sealed.${id}`, sealed) === payment,
        ),
      );
    });
    stage.between.answer = (call, honest) => {
      if (call.method === 'sendTransaction') {
        const signature = sentSignature(call);
        const rows = serviceDisk.rows(
          'service.db',
          `select 1 from settlements where signature = '${signature}' union all select 1 from effects where signature = '${signature}'`,
        );
        sent.push(rows.length > 0);
      }
      return honest();
    };
    const powerFails = async () => {
      stage.kill();
      await stage.ended();
      serviceDisk.fail();
      clientDisk.fail();
      await stage.start();
      stage.traveller.env.FARELOCK_FLIGHTS_URL = lookout.url;
    };
    try {
      stage.traveller.env.FARELOCK_FLIGHTS_URL = lookout.url;
      const offer = (await stage.offers()).find(isRefundable);
      const { intent_id: id } = await ran<Intent>(stage.traveller, ['intent', 'create', offer?.offer_id ?? '']);
      await powerFails();
      await ran(stage.traveller, ['book', id, '--passengers', '-', '--yes'], JSON.stringify([PASSENGER]));
      const listed = () => ran<{ payments: { payment_id: string }[] }>(stage.traveller, ['payments', 'list']);
      const ids = async () => (await listed()).payments.map(({ payment_id: one }) => one);
      const known = await ids();
      await powerFails();
      expect((await ran<Intent>(stage.traveller, ['status', id])).status).toBe('booked');
      expect(await ids()).toEqual(known);
      await ran(stage.traveller, ['refund', 'request', id, '--reason', 'The meeting was called off.']);
      await powerFails();
      await stage.desk(`/refund-requests/${id}/approve`, {});
      await expect
        .poll(async () => (await stage.desk<{ status: string }>(`/refund-requests/${id}`)).status, { timeout: 30_000 })
        .toBe('refunded');
      expect(await stage.paidOut(id)).toBe(1);
      expect(paid.length).toBeGreaterThanOrEqual(4);
      expect(sent.length).toBeGreaterThanOrEqual(6);
      expect([...paid, ...sent]).not.toContain(false);
    } finally {
      await stage.close();
      lookout.close();
      for (const disk of disks) disk.close();
    }
  }, 180_000);

  test('has keys, journal and ledger of a home that was used for the first time', async () => {
    const runner = farelockIn();
    const disk = forgettingDisk(library ?? '', runner.home);
    Object.assign(runner.env, disk.env);
    try {
      const powerFails = () => disk.fail();
      const { address } = await ran<{ address: string }>(runner, ['wallet', 'new']);
      powerFails();
      await ran(runner, ['wallet', 'airdrop', '--sol', '1', '--usdc', '500']);
      powerFails();
      await ran(runner, ['search', 'LIS', 'BER', '--depart', '+30d']);
      powerFails();
      // That the answer was shown may be forgotten, until another command has read it: it is shown once more, and paid once.
      await ran(runner, ['search', 'LIS', 'BER', '--depart', '+30d']);
      const held = await ran(runner, ['wallet', 'balance']);
      const list = await ran<{ payments: object[] }>(runner, ['payments', 'list']);
      expect(list.payments).toHaveLength(1);
      powerFails();
      expect((await ran<{ address: string }>(runner, ['wallet', 'show'])).address).toBe(address);
      expect(await ran(runner, ['wallet', 'balance'])).toEqual(held);
      expect(await ran(runner, ['payments', 'list'])).toEqual(list);
    } finally {
      runner.close();
      disk.close();
    }
  }, 90_000);
});
