// The words of both pages. A page has one language as long as it is open.
export { page as words } from '../../src/words/en/page.ts'
