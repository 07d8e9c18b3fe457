import { Keypair, LAMPORTS_PER_SOL, type PublicKey, SystemProgram } from '@solana/web3.js';
import { expect } from 'vitest';
import { calls } from './scene.ts';
import { signedTransfer } from './web3-sends.ts';

/** Waits for what a subscription tells, while `cause` makes it happen. */
async function told<T>(listen: (hear: (what: T) => void) => number, cause: () => Promise<unknown>): Promise<T> {
  let subscription = 0;
  const heard = new Promise<T>((hear) => {
    subscription = listen(hear);
  });
  await expect.poll(() => subscription >= 0).toBe(true);
  // The subscription is on its way; what comes before it is there is not told.
  await new Promise((wake) => setTimeout(wake, 300));
  await cause();
  return heard;
}

/** What web3.js is told of. */
export const web3Hears = calls('web3.js', {
  'onAccountChange, removeAccountChangeListener': async (s) => {
    const { publicKey } = Keypair.generate();
    let id = 0;
    const account = await told<{ lamports: number }>(
      (hear) => (id = s.web3.onAccountChange(publicKey, hear, { commitment: 'confirmed' })),
      () => s.web3.requestAirdrop(publicKey, LAMPORTS_PER_SOL),
    );
    expect(account.lamports).toBe(LAMPORTS_PER_SOL);
    await s.web3.removeAccountChangeListener(id);
  },
  'onProgramAccountChange, removeProgramAccountChangeListener': async (s) => {
    let id = 0;
    const { publicKey } = Keypair.generate();
    const changed = await told<{ accountId: PublicKey }>(
      (hear) =>
        (id = s.web3.onProgramAccountChange(
          SystemProgram.programId,
          (info) => info.accountId.equals(publicKey) && hear(info),
          { commitment: 'confirmed', filters: [{ dataSize: 0 }] },
        )),
      () => s.web3.requestAirdrop(publicKey, LAMPORTS_PER_SOL),
    );
    expect(changed.accountId.equals(publicKey)).toBe(true);
    await s.web3.removeProgramAccountChangeListener(id);
  },
  'onLogs, removeOnLogsListener': async (s) => {
    const { publicKey } = Keypair.generate();
    let id = 0;
    const { logs, err } = await told<{ logs: string[]; err: unknown }>(
      (hear) => (id = s.web3.onLogs(publicKey, hear, 'confirmed')),
      () => s.web3.requestAirdrop(publicKey, LAMPORTS_PER_SOL),
    );
    expect([logs.length > 0, err]).toEqual([true, null]);
    await s.web3.removeOnLogsListener(id);
  },
  'onSignature, removeSignatureListener': async (s) => {
    const { transfer, wire } = await signedTransfer(s);
    const signature = transfer.signature;
    if (!signature) throw new Error('not signed');
    const { default: bs58 } = await import('bs58');
    const result = await told<{ err: unknown }>(
      (hear) => s.web3.onSignature(bs58.encode(signature), hear, 'confirmed'),
      () => s.web3.sendRawTransaction(wire),
    );
    expect(result.err).toBeNull();
    const never = s.web3.onSignature(bs58.encode(Buffer.alloc(64, 9)), () => undefined);
    await s.web3.removeSignatureListener(never);
  },
  onSignatureWithOptions: async (s) => {
    // web3.js itself hangs up after the first notification.
    const { type } = await told<{ type: string }>(
      (hear) =>
        s.web3.onSignatureWithOptions(s.signature, hear, { commitment: 'confirmed', enableReceivedNotification: true }),
      async () => undefined,
    );
    expect(type).toBe('received');
  },
  'onSlotChange, removeSlotChangeListener': async (s) => {
    let id = 0;
    const { slot, parent } = await told<{ slot: number; parent: number }>(
      (hear) => (id = s.web3.onSlotChange(hear)),
      async () => undefined,
    );
    expect(slot).toBe(parent + 1);
    await s.web3.removeSlotChangeListener(id);
  },
  'onSlotUpdate, removeSlotUpdateListener': async (s) => {
    let id = 0;
    const { type } = await told<{ type: string }>(
      (hear) => (id = s.web3.onSlotUpdate(hear)),
      async () => undefined,
    );
    expect(type).toMatch(/^(createdBank|root|optimisticConfirmation)$/);
    await s.web3.removeSlotUpdateListener(id);
  },
  'onRootChange, removeRootChangeListener': async (s) => {
    let id = 0;
    const root = await told<number>(
      (hear) => (id = s.web3.onRootChange(hear)),
      async () => undefined,
    );
    expect(root).toBeGreaterThan(0);
    await s.web3.removeRootChangeListener(id);
  },
});
