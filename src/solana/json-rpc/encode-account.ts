import { getBase58Decoder } from '@solana/kit';
import type { ChainAccount } from '../cluster.ts';
import type { EmbeddedLedger } from '../embedded/ledger.ts';
import type { AccountEncoding } from './params.ts';
import { parsedAccount } from './parsed-accounts.ts';
import { INVALID_REQUEST, JsonRpcError } from './wire.ts';

const MOST_BLOCK_BYTES = 128 * 1024;

const RENT_EXEMPT_EPOCH = 2n ** 64n - 1n;
const MOST_BASE58_BYTES = 128;

interface AccountView {
  readonly encoding?: AccountEncoding | null | undefined;
  readonly dataSlice?: { readonly offset: number; readonly length: number } | null | undefined;
}

/** An account as getAccountInfo shows it. */
export function encodeAccount(ledger: EmbeddedLedger, account: ChainAccount, view: AccountView = {}) {
  return {
    data: encodeData(ledger, account, view),
    executable: account.executable,
    lamports: account.lamports,
    owner: account.owner,
    rentEpoch: RENT_EXEMPT_EPOCH,
    space: account.data.length,
  };
}

function encodeData(ledger: EmbeddedLedger, account: ChainAccount, view: AccountView): unknown {
  const encoding = view.encoding ?? 'binary';
  const slice = view.dataSlice;
  const data = slice ? account.data.subarray(slice.offset, slice.offset + slice.length) : account.data;
  switch (encoding) {
    case 'jsonParsed':
      return parsedAccount(ledger, account) ?? [Buffer.from(data).toString('base64'), 'base64'];
    case 'base64':
      return [Buffer.from(data).toString('base64'), encoding];
    case 'base64+zstd':
      return [Buffer.from(zstdFrame(data)).toString('base64'), encoding];
    default: {
      if (data.length > MOST_BASE58_BYTES) {
        throw new JsonRpcError(
          INVALID_REQUEST,
          'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
        );
      }
      const text = getBase58Decoder().decode(data);
      // The oldest form, which is also the default, is a bare string.
      return encoding === 'binary' ? text : [text, encoding];
    }
  }
}

/**
 * `data` as a Zstandard frame of uncompressed blocks (RFC 8878, 3.1.1): valid for every reader of `base64+zstd`,
 * without a compressor, which Node 20 does not have.
 */
function zstdFrame(data: Uint8Array): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32LE(0xfd2fb528, 0);
  header[4] = 0xe0; // The content size in 8 bytes, one segment, no checksum, no dictionary.
  header.writeBigUInt64LE(BigInt(data.length), 5);
  const parts: Uint8Array[] = [header];
  for (let at = 0; at === 0 || at < data.length; at += MOST_BLOCK_BYTES) {
    const block = data.subarray(at, at + MOST_BLOCK_BYTES);
    const isLast = at + MOST_BLOCK_BYTES >= data.length ? 1 : 0;
    const blockHeader = Buffer.alloc(3);
    blockHeader.writeUIntLE((block.length << 3) | isLast, 0, 3);
    parts.push(blockHeader, block);
  }
  return Buffer.concat(parts);
}
