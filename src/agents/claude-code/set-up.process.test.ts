// Setting Claude Code up, and the home of a session if there are several nodes.
import { afterEach, describe, expect, it } from 'vitest'
import { createRealClock } from '../../runtime/real-clock.ts'
import { testAgent } from '../../testing/test-settings.ts'
import { claudeStage, claudeWorld } from './fixtures/claude-scene.ts'
import { claudeCodeModule } from './module.ts'

const { scene, clear } = claudeStage()
afterEach(clear)

describe('set-up', () => {
  it('[I22.cc-setup] finds the program, its version, and whether it is signed in', async () => {
    const world = claudeWorld()
    const clock = createRealClock()
    const environment = { PATH: process.env.PATH ?? '', HOME: world.folder }
    const attempt = (options: object) => claudeCodeModule.setup?.try?.({ ...options }, { clock, environment })
    expect(await attempt({ command: world.command })).toEqual({ who: 'Claude Code 2.1.325, signed in' })
    const out = await attempt({ command: world.command, env: { DOUBLE_SIGNED_OUT: '1' } })
    expect(out?.who).toBe('Claude Code 2.1.325, not signed in: run `claude` and /login')
    await expect(attempt({ command: 'no-such-claude' })).rejects.toMatchObject({
      message: '"no-such-claude" is not on PATH',
      hint: expect.stringContaining('npm install -g @anthropic-ai/claude-code'),
    })
    await expect(attempt({ command: '/bin/false' })).rejects.toMatchObject({ code: 'agent_absent' })
    world.remove()
  })

  it('doctor says who is asked, and flags what is not', () => {
    const gates = (options: object) =>
      claudeCodeModule.doctor?.(
        testAgent('a', [], { connector: { type: 'claude-code', options: { ...options } } }),
        { publicUrl: null },
      )
    expect(gates({})).toMatchObject([
      { gate: 'approvals', pass: true, reason: 'asked for (permission mode default)' },
    ])
    expect(gates({ permission_mode: 'bypassPermissions' })).toMatchObject([{ flagged: true, open: 'high' }])
    expect(gates({ args: ['--dangerously-skip-permissions'] })).toMatchObject([{ open: 'high' }])
    expect(gates({ always_allow: ['Bash'] })).toMatchObject([
      { flagged: true, reason: expect.stringContaining('Bash') },
    ])
  })
})

describe('several nodes', () => {
  it('[I22.cc-nodes] [S13.sessions-stay] a session stays with the node that began it', async () => {
    const world = claudeWorld()
    const living = new Set(['a', 'b'])
    const nodes = (self: string) => ({ self, isAlive: (node: string) => living.has(node) })
    const a = await scene({ world, deps: { nodes: nodes('a') } })
    await a.turn('hello')
    expect(world.journal.kept[0]).toMatchObject({ body: { node: 'a' } })
    // The other node has the same store and its own files.
    const far = claudeWorld()
    const b = await scene({ world: { ...far, journal: world.journal }, deps: { nodes: nodes('b') } })
    world.journal.earlier = [
      {
        turn: 'old',
        sender: { id: 'dev' },
        at: 0,
        source: 's',
        text: '',
        attachments: [],
        state: 'answered',
        said: [],
        steps: world.journal.kept.map((one) => ({ ...one, at: 0 })),
      },
    ]
    const { session } = { session: '11111111-1111-5111-8111-111111111111' }
    expect(b.connector.room?.(session)).toBeGreaterThan(0)
    await expect(b.says('again')).rejects.toMatchObject({
      code: 'agent_absent',
      message: 'its session is on node a',
      retryAfterMs: expect.any(Number),
    })
    expect(b.connector.room?.(session)).toBe(0)
    expect(b.connector.processes?.()).toEqual([])
    // That node is gone. The person and doctor learn it at once, and /new begins an ordinary session.
    living.delete('a')
    expect(b.connector.room?.(session)).toBeGreaterThan(0)
    await expect(b.says('again')).rejects.toMatchObject({
      code: 'execution_failed',
      message: expect.stringContaining('node a, which is gone: /new'),
    })
    expect(b.details.at(-1)).toContain('nodes that are gone (a)')
    world.journal.earlier = []
    expect(await b.turn('hello', { session: '22222222-2222-5222-8222-222222222222' })).toMatchObject({
      text: 'You said: hello',
    })
    far.remove()
  })
})
