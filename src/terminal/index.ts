export * from './board.ts';
export * from './live.ts';
export { isSpoken, type Paint, spokenPaint } from './paint.ts';
export * from './prompts.ts';
export * from './streams.ts';
export * from './table.ts';
export * from './terminal.ts';
export * from './text.ts';
export * from './times.ts';

export const loadBoard = () => import('./board.ts');
export const loadPagerProcess = () => import('./pager-process.ts');
export const loadQr = () => import('./qr.ts');
