//! Numbers that name something, each kind with a type of its own, so that mixing them up does not compile.
//!
//! A newtype made by [`index_type!`](crate::index_type) is as large and as fast as the number in it, and is printed and read
//! as that number. It is made by its constructor, `LocationId(3)`; it is a number again with `.0`, or with `index()` where a
//! `usize` is wanted. What it numbers, if that is said, can be looked up by it in a `Vec` or a slice, `locations[location]`,
//! and gone through, `LocationId::each(&locations)`. Tables beside that, such as a `Vec<bool>` with an entry for each location,
//! are read at `location.index()`.
//!
//! Rows of numbers that mean something else in each column, as in the store of the engines, stay rows of `u32`. So do long
//! lists that are hashed, compared or searched in hot loops: the standard library does that faster for plain numbers.
//!
//! ```compile_fail
//! # use allways_model::program::{ProcedureId, Program};
//! fn first_edge(program: &Program, procedure: ProcedureId) -> usize {
//!     program.locations[procedure].edges.len()
//! }
//! ```

/// Makes an index type: `index_type! { /// What it is. pub struct LocationId(usize) of Location; }`. Without `of`, there
/// is nothing that it looks up.
#[macro_export]
macro_rules! index_type {
    ($(#[$attribute:meta])* $visible:vis struct $name:ident($number:ty) of $element:ty;) => {
        $crate::index_type! { $(#[$attribute])* $visible struct $name($number); }

        impl $name {
            /// The numbers of all of these.
            $visible fn all(elements: &[$element]) -> impl DoubleEndedIterator<Item = $name> + use<> {
                (0..elements.len()).map(|index| $name(index as $number))
            }

            /// All of these, with their numbers.
            $visible fn each(elements: &[$element]) -> impl Iterator<Item = ($name, &$element)> {
                elements.iter().enumerate().map(|(index, element)| ($name(index as $number), element))
            }
        }

        impl ::std::ops::Index<$name> for ::std::vec::Vec<$element> {
            type Output = $element;
            #[inline]
            fn index(&self, index: $name) -> &$element {
                &self[index.index()]
            }
        }

        impl ::std::ops::IndexMut<$name> for ::std::vec::Vec<$element> {
            #[inline]
            fn index_mut(&mut self, index: $name) -> &mut $element {
                &mut self[index.index()]
            }
        }

        impl ::std::ops::Index<$name> for [$element] {
            type Output = $element;
            #[inline]
            fn index(&self, index: $name) -> &$element {
                &self[index.index()]
            }
        }
    };
    ($(#[$attribute:meta])* $visible:vis struct $name:ident($number:ty);) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        #[repr(transparent)]
        $visible struct $name(pub $number);

        impl $name {
            /// The number, to look something up with.
            #[inline]
            $visible const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = ::std::num::ParseIntError;
            fn from_str(text: &str) -> Result<$name, Self::Err> {
                text.parse().map($name)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Debug::fmt(&self.0, f)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::program::{LocationId, ProcedureId};

    #[test]
    fn an_index_is_as_large_as_its_number_and_is_printed_as_such() {
        assert_eq!(size_of::<LocationId>(), size_of::<usize>());
        let (location, none) = (LocationId(7), "".parse::<LocationId>());
        assert_eq!(format!("{location} {location:?} {location:>3}"), "7 7   7");
        assert_eq!(("7".parse(), none.is_err()), (Ok(location), true));
        assert_eq!(ProcedureId::all(&[]).count(), 0);
    }
}
