export { searchRequestOf } from './request.ts';
