import { openStore } from '../../../src/service/home.ts';

// Opens a transaction on the database <url>, says so, and writes into it from then on until it cannot.
const [url] = process.argv.slice(2);
if (!url) throw new Error('the address is missing');
const store = await openStore(url);
await store
  .transaction()
  .execute(async (tx) => {
    await tx.insertInto('meta').values({ key: 'held', value: '1' }).execute();
    process.stdout.write('holds\n');
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await tx.updateTable('meta').set({ value: '2' }).where('key', '=', 'held').execute();
    }
  })
  .catch(() => undefined);
await store.destroy();
