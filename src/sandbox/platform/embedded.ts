import { join } from 'node:path';
import { smallText } from '../../kernel/bounded-file.ts';
import type { HttpRequest, HttpResponse } from '../../kernel/http.ts';
import type { PartnerPorts, Store } from '../../partner/base/index.ts';
import { createPartnerHttp } from '../../partner/index.ts';
import { webhookSecretsOf } from '../../partner/platforms/index.ts';
import { partnerKeyFile } from '../partners/index.ts';
import { createPlatformApp } from './app.ts';
import { type Books, openBooks } from './books.ts';
import { PLATFORM_DUE } from './due.ts';
import { moveDue } from './mover.ts';

const SLOW_MS = 3_000;

/** Runs the sandbox platform within a demo's process: its books are in the home, and closed after each call. */
async function withBooks<T>(ports: PartnerPorts, work: (books: Books) => Promise<T>): Promise<T> {
  const books = openBooks(join(ports.home, 'sandbox-platform.db'));
  try {
    return await work(books);
  } finally {
    await publishDue(ports.store, books);
    books.close();
  }
}

/** Writes under the row's lock, so that the later of two processes writes what both have left. */
async function publishDue(store: Store, books: Books): Promise<void> {
  await store.transaction().execute(async (tx) => {
    await tx
      .insertInto('meta')
      .values({ key: PLATFORM_DUE, value: '' })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: '' }))
      .execute();
    const dueAtMs = books.nextDueAtMs();
    await tx
      .updateTable('meta')
      .set({ value: dueAtMs === null ? '' : String(dueAtMs) })
      .where('key', '=', PLATFORM_DUE)
      .execute();
  });
}

export const answerEmbedded = (ports: PartnerPorts, request: HttpRequest): Promise<HttpResponse> =>
  withBooks(ports, async (books) => {
    const app = createPlatformApp({
      books,
      clock: ports.clock,
      stepMs: ports.options.platformStepMs,
      slowMs: SLOW_MS,
      webhookSecrets: async (partnerId) => {
        const row = await ports.store
          .selectFrom('partners')
          .selectAll()
          .where('partner_id', '=', partnerId)
          .executeTakeFirst();
        return row ? webhookSecretsOf(ports, row) : [];
      },
    });
    const response = await app.fetch(request);
    const announced = response.headers['content-length'];
    // A torn answer: a socket would notice it.
    if (announced !== undefined && Number(announced) !== Buffer.byteLength(response.body ?? ''))
      throw new Error('the answer was cut off');
    return response;
  });

/** Sends due updates as HTTP requests within the process, with the partners' keys. */
export const moveEmbedded = (ports: PartnerPorts): Promise<number> =>
  withBooks(ports, (books) => {
    const fetchProcedure = createPartnerHttp(ports);
    return moveDue({
      books,
      clock: ports.clock,
      stepMs: ports.options.platformStepMs,
      fetch: (request) => fetchProcedure(request),
      serviceUrl: 'http://farelock.local',
      serviceName: ports.serviceName,
      keyOf: async (partnerId) => smallText(partnerKeyFile(ports.home, partnerId))?.trim() ?? null,
    });
  });
