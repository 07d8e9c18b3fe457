import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Address, createSolanaRpc, type Signature } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';
import { openRpcCluster } from '../../src/solana/rpc/index.ts';
import { associatedTokenAddress } from '../../src/solana/token.ts';
import { openRpcEndpoint, type RpcEndpoint } from '../interop/rpc-endpoint.ts';

/**
 * A ledger that the first release wrote: `farelock demo` of commit 818fc2a, eleven transactions. The code of programs,
 * which each version brings along, was taken out of it to keep it small.
 */
const FIRST_RELEASE = new URL('./fixtures/ledger-0.1.0.db.gz', import.meta.url);
const WRITTEN_MS = Date.UTC(2026, 10, 23, 14, 22);
const TRAVELLER = '3dmeaLNzFdXG699DLadBb8cjQB2VnbThMw6dvV2XJe1n' as Address;
const FUNDED = '2KgYTJKScM93x9EircEn1yfVt49pRBe9uqNJH8sKYkBRVcoeLz2QPoaJURPHyozpnUYJDRdDssUQKrNZqZy8Q8cU' as Signature;
const FUNDED_MEMO = 'pay_01m84chdxxab25x49a4erka99p';

let folder: string;
let endpoint: RpcEndpoint;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'farelock-earlier-'));
  const path = join(folder, 'ledger.db');
  writeFileSync(path, gunzipSync(readFileSync(FIRST_RELEASE)));
  endpoint = await openRpcEndpoint([], { path, startMs: WRITTEN_MS });
});
afterAll(async () => {
  await endpoint.close();
  rmSync(folder, { recursive: true });
});

describe('a ledger of the first release keeps its history', () => {
  it('lists the transactions of each address, with their memos', async () => {
    const rpc = createSolanaRpc(endpoint.url);
    const listed = await rpc.getSignaturesForAddress(TRAVELLER).send();
    expect(listed.map(({ memo }) => memo)).toMatchInlineSnapshot(`
      [
        "[30] pay_01m84chg8wfdfzvb38d6e11qgq",
        "[30] pay_01m84chdxxab25x49a4erka99p",
        "[30] pay_01m84chdht3h9bmq4jcy5196a2",
        "[30] pay_01m84chd9m5hczkr5q3yeqctsa",
        "[16] 14cb8efcbcafc66b",
        "[16] e3c77dc75fc9dc43",
      ]
    `);
    const ofAccount = await rpc.getSignaturesForAddress(await associatedTokenAddress(TRAVELLER, DEVNET_USDC)).send();
    expect(ofAccount.length).toBeGreaterThan(0);
    for (const { signature } of listed) {
      const found = await rpc
        .getTransaction(signature, { encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 })
        .send();
      expect(found?.meta?.err).toBeNull();
    }
  });

  it('finds a payment by its memo, and does not take it for one that never landed', async () => {
    const account = await associatedTokenAddress(TRAVELLER, DEVNET_USDC);
    for (const cluster of [endpoint.cluster, await openRpcCluster({ urls: [endpoint.url], clock: endpoint.clock })]) {
      expect(await cluster.signaturesWithMemo(FUNDED_MEMO, account)).toEqual([FUNDED]);
      expect(await cluster.isAbsent({ memo: FUNDED_MEMO }, { account, sinceS: 0 })).toBe(false);
    }
  });
});
