import { bech32 } from '@scure/base';
import type { WalletType } from '../../domain/exchange-codes.ts';
import { decodeBase58 } from './base58.ts';
import { bitcoinAddress } from './bitcoin.ts';
import { evmAddress } from './evm.ts';
import { tonAddress } from './ton.ts';
import { tronAddress } from './tron.ts';
import { type DataContext, isAllZeros, NOBODY, normal, type Verdict, wrong } from './verdict.ts';

/**
 * A wallet's address by its own chain's encoding (CONTRACT, section 12). Nothing is trimmed: where an address has
 * no checksum, a character that turned into a space would leave another address that looks right.
 */
export function walletAddress(text: string, type: WalletType, context: DataContext): Verdict {
  if (/\s/.test(text)) return wrong('has white space in it.');
  switch (type) {
    case 'SOLANA':
      return solanaAddress(text);
    case 'BITCOIN':
      return bitcoinAddress(text, context);
    case 'TRON':
      return tronAddress(text);
    case 'TON':
      return tonAddress(text, context);
    case 'AVALANCHEX':
      return avalancheXAddress(text, context);
    case 'ETHEREUM':
    case 'BSC':
    case 'POLYGON':
    case 'ARBITRUM':
    case 'BASE':
    case 'OPTIMISM':
    case 'AVALANCHEC':
      return evmAddress(text);
  }
}

/** 32 bytes in base58; there is no checksum, and an address off the curve is a program's, which may hold money. */
function solanaAddress(text: string): Verdict {
  const bytes = decodeBase58(text);
  if (bytes?.length !== 32) return wrong('must be 32 bytes in base58.');
  return isAllZeros(bytes) ? NOBODY : normal(text);
}

/** The chain's letter, a hyphen, and 20 bytes in bech32 under `avax` (`fuji` on the test network). */
function avalancheXAddress(text: string, context: DataContext): Verdict {
  if (!text.startsWith('X-')) return wrong('must begin with X-, the chain that the address is on.');
  const decoded = bech32.decodeUnsafe(text.slice(2));
  if (!decoded) return wrong('has a checksum that does not match.');
  const prefix = decoded.prefix.toLowerCase();
  if (prefix === 'fuji' && !context.testNetworks) return wrong('is the address of a test network.');
  if (prefix !== 'avax' && prefix !== 'fuji') return wrong('is the address of another network.');
  const bytes = bech32.fromWordsUnsafe(decoded.words);
  if (bytes?.length !== 20) return wrong('is not 20 bytes.');
  return isAllZeros(bytes) ? NOBODY : normal(`X-${text.slice(2).toLowerCase()}`);
}
