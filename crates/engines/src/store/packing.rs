//! How rows of small numbers are packed into machine words: each number in a field of its own, within one word.

/// Where each number of a row lies in its packed form, its *key*.
#[derive(Clone, Debug)]
pub struct Packing {
    fields: Vec<Field>,
    words: usize,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    word: u32,
    shift: u32,
    width: u32,
}

impl Field {
    #[inline]
    fn mask(self) -> u64 {
        (1 << self.width) - 1
    }

    #[inline]
    fn get(self, key: &[u64]) -> u32 {
        (key[self.word as usize] >> self.shift & self.mask()) as u32
    }

    #[inline]
    fn set(self, key: &mut [u64], value: u32) {
        let word = &mut key[self.word as usize];
        *word = *word & !(self.mask() << self.shift) | u64::from(value) << self.shift;
    }
}

impl Packing {
    /// Fields of these widths, at most 32 bits each, one after another, none across a word boundary.
    pub fn new(widths: &[u32]) -> Packing {
        let mut fields = Vec::new();
        let (mut word, mut shift) = (0, 0);
        for &width in widths {
            if shift + width > 64 {
                (word, shift) = (word + 1, 0);
            }
            fields.push(Field { word, shift, width });
            shift += width;
        }
        Packing { fields, words: word as usize + 1 }
    }

    /// The width of each field.
    pub fn widths(&self) -> impl Iterator<Item = u32> {
        self.fields.iter().map(|field| field.width)
    }

    /// The same, but such that `value` fits into `column`, with some room for larger ones.
    pub fn widened(&self, column: usize, value: u32) -> Packing {
        let mut widths: Vec<u32> = self.widths().collect();
        widths[column] = (34 - value.leading_zeros()).clamp(widths[column] + 1, 32);
        Packing::new(&widths)
    }

    /// Words per key.
    #[inline]
    pub fn words(&self) -> usize {
        self.words
    }

    /// Whether a value fits into a column.
    #[inline]
    pub fn fits(&self, column: usize, value: u32) -> bool {
        u64::from(value) <= self.fields[column].mask()
    }

    /// One number of a key.
    #[inline]
    pub fn get(&self, key: &[u64], column: usize) -> u32 {
        self.fields[column].get(key)
    }

    /// Replaces one number of a key; it must fit.
    #[inline]
    pub fn set(&self, key: &mut [u64], column: usize, value: u32) {
        debug_assert!(self.fits(column, value));
        self.fields[column].set(key, value);
    }

    /// All numbers of a key.
    pub fn row<'a>(&'a self, key: &'a [u64]) -> impl ExactSizeIterator<Item = u32> {
        self.fields.iter().map(|field| field.get(key))
    }

    /// Appends the key of a row to `keys`; its numbers must fit.
    pub fn pack_onto(&self, row: impl IntoIterator<Item = u32>, keys: &mut Vec<u64>) {
        let start = keys.len();
        keys.resize(start + self.words, 0);
        for (field, value) in self.fields.iter().zip(row) {
            field.set(&mut keys[start..], value);
        }
    }
}
