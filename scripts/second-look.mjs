// Runs a few failed test files again, one after the other. A test that fails beside others and passes alone is a fault
// of the test or the product, and rarely of the change. Such tests are printed as unsteady. They need a fix, but they
// do not block the change. If many tests fail, there is no second run.

const MOST = 5

/** Returns the files to run again. Null: the first result stands. */
export function secondLook({ failed, failures }) {
  if (failed === 0 || failed > MOST) return null
  // A failure without a file is not a test: an outside error, a suite that did not run, or an interruption.
  if (failures.length !== failed || failures.some(({ file }) => file === undefined)) return null
  return [...new Set(failures.map(({ file }) => file))]
}

/** Joins both results: a test counts as passed if its file passes alone. */
export function bothLooks(first, second) {
  if (second === null || second.failed > 0 || second.passed === 0) return { ...first, unsteady: [] }
  const unsteady = first.failures.map(({ title }) => title)
  return { passed: first.passed + first.failed, failed: 0, skipped: first.skipped, unsteady }
}
