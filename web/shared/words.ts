// The words of both pages. A page keeps one language while it is open.
export { page as words } from '../../src/words/en/page.ts'
