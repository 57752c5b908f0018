// Names the source of a connection, which distinguishes one customer from another.
import { isIPv6 } from 'node:net'

/** For IPv6 it is the network, because one customer has all addresses of a /64. */
export function sourceOf(address: string | undefined): string {
  if (address === undefined || address === '') return 'local'
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const bare = address.split('%', 1)[0] ?? ''
  if (!isIPv6(bare)) return bare
  const [head = '', tail] = bare.split('::', 2)
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right]
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
