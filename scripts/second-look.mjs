// A test that is red beside the others and green alone is a fault of the test or of the product, and rarely of the
// change at hand. A whole run looks at a few such files a second time, one after the other, and says by name what was
// unsteady: it is to be mended, and it does not hold up whoever came by. Many red tests get no second look.

const MOST = 5

/** The files to look at again; null: what the run counted stands. */
export function secondLook({ failed, failures }) {
  if (failed === 0 || failed > MOST) return null
  // Without a file it is no test: an error outside, a suite that did not run, an end by interruption.
  if (failures.length !== failed || failures.some(({ file }) => file === undefined)) return null
  return [...new Set(failures.map(({ file }) => file))]
}

/** What both looks come to: a test counts as passed when its file is green alone. */
export function bothLooks(first, second) {
  if (second === null || second.failed > 0 || second.passed === 0) return { ...first, unsteady: [] }
  const unsteady = first.failures.map(({ title }) => title)
  return { passed: first.passed + first.failed, failed: 0, skipped: first.skipped, unsteady }
}
