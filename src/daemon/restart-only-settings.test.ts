// A reload reports settings that need a restart.
import { describe, expect, it } from 'vitest'
import { testSettings } from '../testing/test-settings.ts'
import { withStartNotes } from './restart-only-settings.ts'

describe('what is settled at start', () => {
  const started = testSettings({ integrations: [], agents: [] })

  it('is not mentioned while it stays as it was', () => {
    expect(withStartNotes(started, { ...started })).toEqual(started)
  })

  it('[S3.reload-said] a change is named, and says that it needs a restart', () => {
    const server = { ...started.server, port: started.server.port + 1, host: '0.0.0.0' }
    const { warnings } = withStartNotes(started, { ...started, server, store: 'sqlite:elsewhere.db' })
    expect(warnings.join('\n')).toMatch(/^store .*restart\nserver\.host .*restart\nserver\.port .*restart$/)
  })
})
