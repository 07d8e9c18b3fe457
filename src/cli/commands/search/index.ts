export { openSearchMemory, type Remembered, type SearchMemory } from './prices.ts';
export { searchRequestOf } from './request.ts';
