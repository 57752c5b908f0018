// A call of Claude Code as an approver sees it, and the input of an allowed call.
import { expect, it } from 'vitest'
import type { Verdict } from '../../contract/index.ts'
import { permissionOf, verdictAnswer } from './permissions.ts'

const allowed = (input: string): Verdict => ({
  ...{ approval: 'abcde', session: 's', turn: 't' },
  ...{ behavior: 'allow', cause: 'person', decidedBy: 'kate' },
  ask: { toolName: 'ExitPlanMode', description: '', input },
})

it('[I35.b3] a plan is shown with every other field, and allows no commands beyond it', () => {
  const input = {
    plan: '1. Look',
    planFilePath: '/tmp/plan.md',
    pushToRemote: true,
    allowedPrompts: [{ tool: 'Bash', prompt: 'delete files' }],
  }
  const wanted = permissionOf({ tool_name: 'ExitPlanMode', input }, [])
  const { allowedPrompts: _, ...rest } = input
  expect(wanted.shown).toBe(
    '1. Look\n\nAlso: {\n  "planFilePath": "/tmp/plan.md",\n  "pushToRemote": true\n}',
  )
  expect(verdictAnswer(wanted, allowed(wanted.shown ?? ''))).toEqual({
    behavior: 'allow',
    updatedInput: rest,
  })
})

it('[I35.b3] a long description hides neither the path nor what is not asked for again', () => {
  const words = 'so '.repeat(2_000)
  const rules = [{ toolName: 'Bash', ruleContent: '*' }]
  const request = {
    ...{ tool_name: 'Bash', input: { command: 'ls' }, description: words, blocked_path: '/etc' },
    permission_suggestions: [{ type: 'addRules', rules, behavior: 'allow', destination: 'session' }],
  }
  const { description, shown } = permissionOf(request, ['Bash'])
  expect(description).toContain(words)
  expect(description).toContain('Path: /etc')
  expect(description).toContain('Bash(*)')
  expect(shown).not.toBeNull()
  expect(permissionOf({ ...request, description: 'x'.repeat(100_001) }, ['Bash']).shown).toBeNull()
})
