extern void abort(void);
typedef unsigned char byte;
struct pair { int left; long right[3]; struct pair *next; };
enum { FEW = 3, MANY = FEW + 4 };
int seed = 7, sum, cells[5] = {1, 2, 3};
struct pair head, *list;
unsigned wide = 4000000000u;
int next_value(void) { static int calls = 5; calls++; seed = seed * 31 + calls; return seed & 63; }
int depth(int n) { if (n <= 0) return 1; return depth(n - 1) + n; }
int sign(int n) { return n < 0 ? -1 : n > 0; }
int find(int what) {
  for (int i = 0; i < MANY; i++) {
    int twice = i * 2;
    if (twice == what) return i;
    if (i % 3 == 1) continue;
    while (twice > 0) { if (twice-- == what) goto found; if (twice == 3) break; }
    sum += twice;
  }
  return -1;
found:
  return 100;
}
void add(struct pair *to, int n) { to->left += n; to->right[n % 3] -= n; if (to->next && n > 1) add(to->next, n - 1); }
int kinds(int n) {
  int got = 0;
  switch (n % 6) {
    case 0: got += 1;
    case 1: got += 10; break;
    default: got += 100; if (n > 20) break; got += 1000;
    case 4: { int got_more = n; got += got_more; while (1) { if (got % 7 == 0) break; got++; } }
    case 5: got += 5;
  }
  return got;
}
int main(void) {
  struct pair tail = {4, {1, 2, 3}, 0};
  int i, total = 0;
  list = &head;
  head.next = &tail;
  for (i = 0; i < 20; i++) {
    int total_here = kinds(i) + find(i);
    total = total * 3 + total_here % 101;
    total ^= next_value();
    total &= 0xffffff;
  }
  i = 0;
  do { cells[i % 5] += i; if (cells[i % 5] % 2) continue; i++; add(list, i); } while (++i < 9);
  for (i = 9; i >= -3; i -= 2) sum += i * sign(i);
  for (byte small = 250; small != 4; small++) sum++;
  for (i = 0; i < 4; i++) { if (i == 2) { i += 0; continue; } for (int i = 0; i < 3; i++) sum += i; }
  while (wide > 3999999990u && (cells[0] || sum) && !(seed == 1 || sum == -5)) wide--, sum += 2;
  total += depth(4) + head.left * 7 + (int) tail.right[1] + cells[1] * cells[2] - cells[3] + sum + (int) (wide % 91);
  list->next->left <<= 2;
  list->right[1] %= 5, cells[4]++;
  total += tail.left + (int) head.right[1] + cells[4];
  { int total = 5; cells[0] += total; }
  if (cells[0] > 3) if (total == 1) abort(); else total += 3;
  total %= 65521;
  return (total ^ total >> 8) & 127;
}
