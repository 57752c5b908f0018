// The findings of `doctor` about an http agent, from its configuration alone.
import { describe, expect, it } from 'vitest'
import { testAgent } from '../../testing/test-settings.ts'
import { httpModule } from './module.ts'

const gates = (options: object, publicUrl: string | null = null) =>
  httpModule.doctor?.(testAgent('kate', [], { connector: { type: 'http', options: { ...options } } }), {
    publicUrl,
  }) ?? []

describe('[I16.http-doctor] doctor of an http agent', () => {
  it('passes one that is signed, and reached and answered by public URLs', () => {
    const found = gates({ url: 'https://kate.example.com/', secret: 'env:S' }, 'https://sb.example.com')
    expect(found).toHaveLength(3)
    expect(found.every(({ pass, flagged }) => pass && !flagged)).toBe(true)
  })

  it('names the key of what is wrong, or wider than it should be', () => {
    const found = gates({ url: 'http://kate.example.com/' })
    expect(
      found.map(({ pass, flagged = false, key }) => [
        pass,
        flagged,
        key.replace(/^.*\.(connector|server)\./, ''),
      ]),
    ).toEqual([
      [false, false, 'allow_private'],
      [true, true, 'secret'],
      [true, true, 'server.public_url'],
    ])
  })

  it('needs no public URL for an agent on this machine, and knows nothing of what is behind a reference', () => {
    expect(
      gates({ url: 'http://127.0.0.1:8080/', secret: 'env:S', allow_private: true }).some(
        ({ flagged }) => flagged,
      ),
    ).toBe(false)
    expect(gates({ url: 'env:URL', secret: 'env:S' }, 'https://sb.example.com')[0]).toMatchObject({
      pass: true,
    })
    expect(gates({ nonsense: 1 })).toEqual([])
  })
})
